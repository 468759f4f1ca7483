import type { ConnectionOptions } from "node:tls";
import type { Logger } from "@vvs/logging";
import { type RedisOptions as LibraryOptions, Redis } from "ioredis";

/** Maximum time without data while an answer is expected, in milliseconds. After it the connection is closed. */
const SILENCE_MS = 2_000;
const RECONNECT_MS = { step: 50, longest: 1_000 };
const retryStrategy = (attempt: number) => Math.min(attempt * RECONNECT_MS.step, RECONNECT_MS.longest);

/** How Redis is reached. */
export interface RedisOptions {
  /** With credentials; rediss:// for TLS. With Sentinels its host is the name of the primary that they watch. */
  readonly url: string;
  /** PEM texts; implies TLS. */
  readonly tls?: {
    readonly ca?: string | undefined;
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
  };
  readonly sentinels?: {
    readonly addresses: readonly { readonly host: string; readonly port: number }[];
    readonly password?: string | undefined;
  };
}

/**
 * Connects to Redis. Commands fail fast, and the connection is restored automatically. Without these options a command,
 * and its request, would wait in a queue while Redis is unavailable. A server in cluster mode ends the process.
 */
export function connectRedis(options: RedisOptions & { logger: Logger }): Redis {
  const redis = new Redis(options.url, {
    ...serverOptions(options),
    enableOfflineQueue: false,
    // Calls of one turn of the event loop share a write.
    enableAutoPipelining: true,
    // A call that lost its connection is decided without Redis, because sending it again could count it twice.
    maxRetriesPerRequest: 0,
    socketTimeout: SILENCE_MS,
    connectTimeout: SILENCE_MS,
    // After a fail-over, an open connection may still lead to the old primary, which refuses writes, also those of scripts.
    reconnectOnError: ({ message }) => message.includes("READONLY "),
    retryStrategy,
  });
  let failing = false;
  redis.on("error", (error) => {
    if (!failing) options.logger.error({ err: error }, "connecting to Redis fails; retrying");
    failing = true;
  });
  redis.on("ready", () => {
    void refuseClusterMode(redis);
    if (failing) options.logger.info("connecting to Redis succeeds again");
    failing = false;
  });
  return redis;
}

function serverOptions({ url, tls, sentinels }: RedisOptions): LibraryOptions {
  const secure = tls ?? (url.startsWith("rediss:") ? {} : undefined);
  const own = { ...(secure && { tls: secure as ConnectionOptions }) };
  if (!sentinels) return own;
  return {
    ...own,
    ...(secure && { sentinelTLS: secure as ConnectionOptions, enableTLSForSentinelMode: true }),
    name: new URL(url).hostname,
    sentinels: [...sentinels.addresses],
    ...(sentinels.password && { sentinelPassword: sentinels.password }),
    sentinelRetryStrategy: retryStrategy,
  };
}

/** Errors: the server is in cluster mode, which ends the process, because nothing catches it. */
async function refuseClusterMode(redis: Redis): Promise<void> {
  // A user without the right to ask is no reason to stop; an unavailable server is asked again when it is ready.
  const info = await redis.info("cluster").catch(() => "");
  if (!/^cluster_enabled:1/m.test(info)) return;
  throw new Error(
    "REDIS_URL is a Redis in cluster mode, which is not supported: each of its nodes answers for a part of the keys and refuses the others, so that limits would be counted in each gateway alone. Use a Redis without cluster mode, with a replica or with Sentinels.",
  );
}
