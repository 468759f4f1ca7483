import type { Logger } from "@vvs/logging";
import { Redis } from "ioredis";

/** No request waits longer for Redis. */
const COMMAND_TIMEOUT_MS = 200;
/** A connection that says nothing for so long while an answer is due is taken for dead. */
const SILENCE_MS = 2_000;
const RECONNECT_MS = { step: 50, longest: 1_000 };

/**
 * A connection that fails fast and comes back by itself. Without these options a command would wait in a queue for a
 * Redis that is away, and its request with it.
 */
export function connectRedis(options: { url: string; logger: Logger }): Redis {
  const redis = new Redis(options.url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SILENCE_MS,
    connectTimeout: SILENCE_MS,
    retryStrategy: (attempt) => Math.min(attempt * RECONNECT_MS.step, RECONNECT_MS.longest),
  });
  let failing = false;
  redis.on("error", (error) => {
    if (!failing) options.logger.error({ err: error }, "Redis is away: limits are kept in this gateway's own memory");
    failing = true;
  });
  redis.on("ready", () => {
    if (failing) options.logger.info("Redis is back");
    failing = false;
  });
  return redis;
}
