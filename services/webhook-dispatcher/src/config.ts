import { count, flag, loadConfig, port, serviceSection, z } from "@vvs/config";
import { isRange } from "@vvs/egress";
import { callsSection } from "@vvs/fair-queue";
import { kafkaSection } from "@vvs/kafka";
import { mongoSection } from "@vvs/mongo";
import { rpcSection } from "@vvs/rpc";

const schema = z.object({
  ...serviceSection,
  ...mongoSection,
  ...kafkaSection,
  ...rpcSection,
  ...callsSection,
  /** Address the gRPC server binds to. */
  RPC_HOST: z.string().default("127.0.0.1"),
  RPC_PORT: port().default(50_055),
  /** host:port of the account service, or of its keys part, which holds the signing secrets. */
  ACCOUNT_ADDRESS: z.string().default("127.0.0.1:50051"),
  /** Deliver to private and loopback addresses too; only for local runs. */
  WEBHOOK_ALLOW_PRIVATE_TARGETS: flag().default(false),
  /**
   * Further ranges of addresses to which nothing is delivered, separated by commas, such as this installation's own public
   * ones. Private addresses and those of clouds' hosts are refused in any case.
   */
  WEBHOOK_REFUSED_RANGES: z
    .string()
    .transform((text) => text.split(",").map((part) => part.trim()))
    .refine((ranges) => ranges.every(isRange), "must be ranges such as 203.0.113.0/24, separated by commas")
    .optional(),
  /**
   * http: or https: URL of the proxy through which webhooks are sent (CONNECT), with user name and password where it needs
   * them; best as WEBHOOK_EGRESS_PROXY_URL_FILE then. The proxy resolves names, so it must refuse private addresses.
   */
  WEBHOOK_EGRESS_PROXY_URL: z
    .string()
    .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), "must be an http: or https: URL")
    .optional(),
  /** PEM of a client certificate with its chain, for subscribers that require one; best as WEBHOOK_CLIENT_CERT_FILE. */
  WEBHOOK_CLIENT_CERT: z.string().optional(),
  /** PEM of its private key, best as WEBHOOK_CLIENT_KEY_FILE. */
  WEBHOOK_CLIENT_KEY: z.string().optional(),
  /** User-Agent of webhooks. */
  WEBHOOK_USER_AGENT: z
    .string()
    .regex(/^[\x20-\x7e]{1,256}$/, "at most 256 printable ASCII characters")
    .default("vendor-verification-service/1"),
  /** Longest duration of an attempt, the answer's body included, in milliseconds. */
  WEBHOOK_TIMEOUT_MS: count(1).default(15_000),
  /** Maximum number of attempts in flight to endpoints that answer well, per environment. */
  WEBHOOK_CONCURRENCY: count(1).default(512),
  /** Maximum number of further attempts in flight that take over 1 s, or go to endpoints that fail or are not known yet. */
  WEBHOOK_SLOW_CONCURRENCY: count(1).default(1_024),
  /** Maximum number of each kind for one organization: as many as its own hanging endpoints can use. */
  WEBHOOK_CONCURRENCY_PER_ORGANIZATION: count(1).default(512),
  /** Maximum number of attempts in flight to one host, of all organizations; half of them for one organization. */
  WEBHOOK_CONCURRENCY_PER_HOST: count(2).default(128),
  /** Maximum number of sandbox events per organization and hour that are delivered. */
  WEBHOOK_SANDBOX_EVENTS_PER_HOUR: count().default(1_000),
  /** Days for which the sandbox's deliveries are kept. Their ids are kept for 31 days. */
  WEBHOOK_SANDBOX_KEPT_DAYS: count(1).max(30).default(14),
  /** Maximum number of sandbox deliveries of an organization; beyond it the oldest go, but none younger than a day. */
  WEBHOOK_SANDBOX_KEPT_DELIVERIES: count(1).default(10_000),
  /** Maximum number of attempts in flight to one URL; fewer while it does not answer fast. */
  WEBHOOK_CONCURRENCY_PER_URL: count(1).default(64),
});

export type WebhookDispatcherConfig = z.infer<typeof schema>;

export const loadWebhookDispatcherConfig = (): WebhookDispatcherConfig => loadConfig(schema, process.env);

/** Returns the slots for attempts, by pool. */
export function poolsOf(config: WebhookDispatcherConfig): Record<"fast" | "slow" | "perHost", PoolLimits> {
  const slotsPerOrganization = config.WEBHOOK_CONCURRENCY_PER_ORGANIZATION;
  return {
    fast: { slots: config.WEBHOOK_CONCURRENCY, slotsPerOrganization },
    slow: { slots: config.WEBHOOK_SLOW_CONCURRENCY, slotsPerOrganization },
    perHost: {
      slots: config.WEBHOOK_CONCURRENCY_PER_HOST,
      slotsPerOrganization: Math.floor(config.WEBHOOK_CONCURRENCY_PER_HOST / 2),
    },
  };
}

/** Maximum numbers of attempts in flight. */
export interface PoolLimits {
  readonly slots: number;
  readonly slotsPerOrganization: number;
}
