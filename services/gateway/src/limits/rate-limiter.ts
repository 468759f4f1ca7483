import type { Redis } from "ioredis";
import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { type MemoryLog, MemorySlidingLimiter, slidingLogScript } from "./sliding-log.ts";

export const WINDOW_SECONDS = 60;
/** After Redis failed, so long is decided in memory before it is tried again: a hanging one delays few requests. */
const REDIS_PAUSE_MS = 1_000;

/** How one key stands after a call. */
export interface Quota {
  readonly allowed: boolean;
  readonly limit: number;
  /** Calls left at once. */
  readonly remaining: number;
  /** Whole seconds, 1–60, until the next slot frees. */
  readonly resetSeconds: number;
}

export interface RateLimiter {
  /** Counts a call against a key, if it is within the limit per minute. Never fails: without Redis it counts in memory. */
  consume(key: string, limit: number): Promise<Quota>;
  /** Is this gateway limiting on its own memory? */
  degraded(): boolean;
}

export interface RateLimiterOptions {
  readonly redis: Redis;
  /** Before all keys; limiters of different things have different ones. */
  readonly keyPrefix: string;
  /** Milliseconds on a clock that never goes back. */
  readonly clock: () => number;
}

/** An exact sliding window per key, shared by all gateways through Redis. */
export function createRateLimiter({ redis, keyPrefix, clock }: RateLimiterOptions): RateLimiter {
  const log: MemoryLog = new Map();
  /** A limiter's limit is fixed; those of all limits share their keys, so that a changed plan counts at once. */
  const limiters = new Map<number, { shared: RateLimiterRedis; memory: MemorySlidingLimiter }>();
  let redisFailedAt = Number.NEGATIVE_INFINITY;

  function limitersFor(points: number) {
    const existing = limiters.get(points);
    if (existing) return existing;
    const memoryOptions = { log, points, windowSeconds: WINDOW_SECONDS, keyPrefix, clock };
    const shared = new RateLimiterRedis({
      storeClient: redis,
      points,
      duration: WINDOW_SECONDS,
      keyPrefix,
      customIncrTtlLuaScript: slidingLogScript,
      rejectIfRedisNotReady: true,
      // A refused key is refused from memory until its slot frees, which can't be sooner.
      inMemoryBlockOnConsumed: points + 1,
      insuranceLimiter: new MemorySlidingLimiter({
        ...memoryOptions,
        onUse() {
          redisFailedAt = clock();
        },
      }),
    });
    const created = { shared, memory: new MemorySlidingLimiter(memoryOptions) };
    limiters.set(points, created);
    return created;
  }

  async function decide(key: string, limit: number): Promise<{ allowed: boolean; result: RateLimiterRes }> {
    const { shared, memory } = limitersFor(limit);
    const limiter = clock() - redisFailedAt < REDIS_PAUSE_MS ? memory : shared;
    try {
      return { allowed: true, result: await limiter.consume(key) };
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return { allowed: false, result: refusal };
    }
  }

  return {
    async consume(key, limit) {
      const { allowed, result } = await decide(key, limit);
      const resetSeconds = Math.min(WINDOW_SECONDS, Math.max(1, Math.ceil(result.msBeforeNext / 1_000)));
      return { allowed, limit, remaining: allowed ? result.remainingPoints : 0, resetSeconds };
    },
    degraded: () => redis.status !== "ready" || clock() - redisFailedAt < 2 * REDIS_PAUSE_MS,
  };
}
