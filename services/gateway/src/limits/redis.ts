import type { Logger } from "@vvs/logging";
import { Redis } from "ioredis";

/** Maximum time without data while an answer is expected, in milliseconds. After it the connection is closed. */
const SILENCE_MS = 2_000;
const RECONNECT_MS = { step: 50, longest: 1_000 };

/**
 * Connects to Redis. Commands fail fast, and the connection is restored automatically. Without these options a command,
 * and its request, would wait in a queue while Redis is unavailable.
 */
export function connectRedis(options: { url: string; logger: Logger }): Redis {
  const redis = new Redis(options.url, {
    enableOfflineQueue: false,
    // A call that lost its connection is decided without Redis, because sending it again could count it twice.
    maxRetriesPerRequest: 0,
    socketTimeout: SILENCE_MS,
    connectTimeout: SILENCE_MS,
    // After a fail-over, an open connection may still lead to the old primary, which refuses writes, also those of scripts.
    reconnectOnError: ({ message }) => message.includes("READONLY "),
    retryStrategy: (attempt) => Math.min(attempt * RECONNECT_MS.step, RECONNECT_MS.longest),
  });
  let failing = false;
  redis.on("error", (error) => {
    if (!failing) options.logger.error({ err: error }, "connecting to Redis fails; retrying");
    failing = true;
  });
  redis.on("ready", () => {
    if (failing) options.logger.info("connecting to Redis succeeds again");
    failing = false;
  });
  return redis;
}
