import { count, flag, loadConfig, port, serviceSection, z } from "@vvs/config";
import { kafkaSection } from "@vvs/kafka";
import { mongoSection } from "@vvs/mongo";
import { rpcSection } from "@vvs/rpc";
import type { PoolLimits } from "./pools.ts";

const schema = z.object({
  ...serviceSection,
  ...mongoSection,
  ...kafkaSection,
  ...rpcSection,
  /** Address the gRPC server binds to. */
  RPC_HOST: z.string().default("127.0.0.1"),
  RPC_PORT: port().default(50_055),
  /** Where the account service, which holds the signing secrets, answers. */
  ACCOUNT_ADDRESS: z.string().default("127.0.0.1:50051"),
  /** Deliver to private and loopback addresses too: for local runs alone. */
  WEBHOOK_ALLOW_PRIVATE_TARGETS: flag().default(false),
  /**
   * http: or https: URL of a proxy that webhooks leave by (CONNECT), with user name and password where it asks for them;
   * best as WEBHOOK_EGRESS_PROXY_URL_FILE then. It resolves names, so it must be the one that refuses private addresses.
   */
  WEBHOOK_EGRESS_PROXY_URL: z
    .string()
    .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), "must be an http: or https: URL")
    .optional(),
  /** PEM of a certificate, with its chain, that is shown to subscribers who ask, best as WEBHOOK_CLIENT_CERT_FILE. */
  WEBHOOK_CLIENT_CERT: z.string().optional(),
  /** PEM of its private key, best as WEBHOOK_CLIENT_KEY_FILE. */
  WEBHOOK_CLIENT_KEY: z.string().optional(),
  /** How webhooks introduce us (User-Agent). */
  WEBHOOK_USER_AGENT: z
    .string()
    .regex(/^[\x20-\x7e]{1,256}$/, "at most 256 printable ASCII characters")
    .default("vendor-verification-service/1"),
  /** Milliseconds an attempt may take, the answer's body included. */
  WEBHOOK_TIMEOUT_MS: count(1).default(15_000),
  /** Attempts at once, for each environment, to endpoints that answer well. */
  WEBHOOK_CONCURRENCY: count(1).default(512),
  /** Attempts at once, beside those, that take over a second, or that go to endpoints which fail or are not known yet. */
  WEBHOOK_SLOW_CONCURRENCY: count(1).default(1_024),
  /** Of either, attempts for one organization: what hanging endpoints of its own can hold. */
  WEBHOOK_CONCURRENCY_PER_ORGANIZATION: count(1).default(512),
  /** Attempts at once to one URL, at most: there are fewer while it does not answer fast. */
  WEBHOOK_CONCURRENCY_PER_URL: count(1).default(64),
});

export type WebhookDispatcherConfig = z.infer<typeof schema>;

export const loadWebhookDispatcherConfig = (): WebhookDispatcherConfig => loadConfig(schema, process.env);

/** Slots for attempts. No organization takes all of those that are free again soon. */
export function poolsOf(config: WebhookDispatcherConfig): Record<"fast" | "slow", PoolLimits> {
  const slotsPerOrganization = config.WEBHOOK_CONCURRENCY_PER_ORGANIZATION;
  return {
    fast: { slots: config.WEBHOOK_CONCURRENCY, slotsPerOrganization },
    slow: { slots: config.WEBHOOK_SLOW_CONCURRENCY, slotsPerOrganization },
  };
}
