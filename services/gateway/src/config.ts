import { readFileSync } from "node:fs";
import { count, flag, keyRing, loadConfig, port, serviceSection, z } from "@vvs/config";
import { rpcSection } from "@vvs/rpc";

const schema = z.object({
  ...serviceSection,
  ...rpcSection,
  /** Address the API binds to; 0.0.0.0 for all. */
  HTTP_HOST: z.string().default("127.0.0.1"),
  /** Port of the API. */
  HTTP_PORT: port().default(8080),
  /** Seconds an idle connection is kept; longer than the load balancer in front keeps its own. */
  HTTP_KEEP_ALIVE_SECONDS: count(1).default(620),
  /** Connections beyond this are closed at once. */
  HTTP_MAX_CONNECTIONS: count(1).default(10_000),
  /** Proxies of the operator's own in front, whose entries of X-Forwarded-For are believed; 0 believes none. */
  TRUSTED_PROXY_HOPS: count().default(0),
  /** What clients reach this API under, such as https://api.example.com; evidence is linked with it. */
  PUBLIC_BASE_URL: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, "")),
  /** host:port of the account service. */
  ACCOUNT_ADDRESS: z.string().default("127.0.0.1:50051"),
  /** host:port of the entity service. */
  ENTITY_ADDRESS: z.string().default("127.0.0.1:50052"),
  /** host:port of the verification service. */
  VERIFICATION_ADDRESS: z.string().default("127.0.0.1:50053"),
  /** host:port of the monitor service. */
  MONITOR_ADDRESS: z.string().default("127.0.0.1:50054"),
  /** Redis for limits, with credentials in the URL; rediss:// for TLS. */
  REDIS_URL: z.string(),
  /** Before all keys in Redis. */
  REDIS_KEY_PREFIX: z.string().default("vvs_"),
  /** Key ring that API keys are hashed with; the same as account's. */
  API_KEY_PEPPERS: keyRing(),
  /** Key ring that idempotency keys and bodies are hashed with; the first alone is used. */
  IDEMPOTENCY_KEYS: keyRing(),
  /** Take webhook URLs with private hosts; for local runs alone. */
  WEBHOOK_ALLOW_PRIVATE_TARGETS: flag().default(false),
});

export type GatewayConfig = z.infer<typeof schema>;

/** The configuration of this process. Errors: ConfigError. */
export const loadGatewayConfig = (): GatewayConfig => loadConfig(schema, process.env);

/** The product's version, as its root package.json says it. */
export function productVersion(): string {
  const file = new URL("../../../package.json", import.meta.url);
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, "utf8"))).version;
}
