import { readFileSync } from "node:fs";
import { count, flag, keyRing, loadConfig, port, serviceSection, z } from "@vvs/config";
import { rpcSection } from "@vvs/rpc";

const schema = z.object({
  ...serviceSection,
  ...rpcSection,
  /** Address that the API binds to; 0.0.0.0 for all. */
  HTTP_HOST: z.string().default("127.0.0.1"),
  /** Port of the API. */
  HTTP_PORT: port().default(8080),
  /** How long an idle connection is kept, in seconds. Must be longer than in the load balancer in front. */
  HTTP_KEEP_ALIVE_SECONDS: count(1).default(620),
  /** Maximum number of connections. Further ones are closed immediately. */
  HTTP_MAX_CONNECTIONS: count(1).default(10_000),
  /** Number of the operator's own proxies in front, whose X-Forwarded-For entries are trusted; 0: none. */
  TRUSTED_PROXY_HOPS: count().default(0),
  /** Base URL of this API for clients, such as https://api.example.com. Links to evidence begin with it. */
  PUBLIC_BASE_URL: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, "")),
  /** host:port of the account service, or of its keys part. */
  ACCOUNT_ADDRESS: z.string().default("127.0.0.1:50051"),
  /** host:port of the entity service. */
  ENTITY_ADDRESS: z.string().default("127.0.0.1:50052"),
  /** host:port of the verification service. */
  VERIFICATION_ADDRESS: z.string().default("127.0.0.1:50053"),
  /** host:port of the monitor service. */
  MONITOR_ADDRESS: z.string().default("127.0.0.1:50054"),
  /** URL of Redis for limits, including credentials; rediss:// for TLS. */
  REDIS_URL: z.string(),
  /** Prefix of all keys in Redis. */
  REDIS_KEY_PREFIX: z.string().default("vvs_"),
  /** Key ring that API keys are hashed with. Must be the same as account's. */
  API_KEY_PEPPERS: keyRing(),
  /** Key ring for hashes of idempotency keys and bodies. Keep a replaced key in the ring for 24 h. */
  IDEMPOTENCY_KEYS: keyRing(),
  /** Whether webhook URLs may point to private hosts. Only for local runs. */
  WEBHOOK_ALLOW_PRIVATE_TARGETS: flag().default(false),
});

/** Reads the configuration from the environment. Errors: ConfigError that lists all problems. */
export const loadGatewayConfig = () => loadConfig(schema, process.env);

/** Returns the product's version from the root package.json. */
export function productVersion(): string {
  const file = new URL("../../../package.json", import.meta.url);
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, "utf8"))).version;
}
