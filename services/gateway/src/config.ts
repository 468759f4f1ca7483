import { readFileSync } from "node:fs";
import { count, flag, keyRing, loadConfig, port, serviceSection, z } from "@vvs/config";
import { callsSection } from "@vvs/fair-queue";
import { rpcSection } from "@vvs/rpc";
import type { RedisOptions } from "./limits/redis.ts";

const schema = z.object({
  ...serviceSection,
  ...rpcSection,
  ...callsSection,
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
  /** URL of Redis for limits, including credentials; rediss:// for TLS. With REDIS_SENTINELS its host is the primary's name. */
  REDIS_URL: z.string(),
  /** host:port of each Redis Sentinel, separated by commas; empty: the host of REDIS_URL is connected to. */
  REDIS_SENTINELS: z
    .string()
    .regex(/^[^\s:,]+:\d{1,5}(,[^\s:,]+:\d{1,5})*$/, "must be host:port[,host:port…]")
    .optional(),
  /** Password of the Sentinels, if they have one. */
  REDIS_SENTINEL_PASSWORD: z.string().optional(),
  /** PEM of the authorities that sign the servers' certificates, best as REDIS_TLS_CA_FILE; implies TLS. */
  REDIS_TLS_CA: z.string().optional(),
  /** PEM of a client certificate, best as REDIS_TLS_CERT_FILE; implies TLS. */
  REDIS_TLS_CERT: z.string().optional(),
  /** PEM of the key of that certificate, best as REDIS_TLS_KEY_FILE. */
  REDIS_TLS_KEY: z.string().optional(),
  /** Prefix of all keys in Redis. */
  REDIS_KEY_PREFIX: z.string().default("vvs_"),
  /** Key ring that API keys are hashed with. Must be the same as account's. */
  API_KEY_PEPPERS: keyRing(),
  /** Key ring for hashes of idempotency keys and bodies. Keep a replaced key in the ring for 24 h. */
  IDEMPOTENCY_KEYS: keyRing(),
  /** Whether webhook URLs may point to private hosts. Only for local runs. */
  WEBHOOK_ALLOW_PRIVATE_TARGETS: flag().default(false),
});

/** Returns the options of connectRedis. */
export function redisOptions(config: z.infer<typeof schema>): RedisOptions {
  const { REDIS_TLS_CA: ca, REDIS_TLS_CERT: cert, REDIS_TLS_KEY: key, REDIS_SENTINEL_PASSWORD: password } = config;
  const addresses = config.REDIS_SENTINELS?.split(",").map((one) => {
    const [host, port] = one.split(":");
    return { host: host!, port: Number(port) };
  });
  return {
    url: config.REDIS_URL,
    ...((ca || cert) && { tls: { ca, cert, key } }),
    ...(addresses && { sentinels: { addresses, password } }),
  };
}

/** Reads the configuration from the environment. Errors: ConfigError that lists all problems. */
export const loadGatewayConfig = () => loadConfig(schema, process.env);

/** Returns the product's version from the root package.json. */
export function productVersion(): string {
  const file = new URL("../../../package.json", import.meta.url);
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, "utf8"))).version;
}
