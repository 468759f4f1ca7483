import type { Logger } from "@vvs/logging";
import { within } from "@vvs/retry";
import type { Redis } from "ioredis";
import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { createFallback } from "./fallback.ts";
import { type Admission, KeyWindow } from "./key-window.ts";
import { addMissedScript, slidingWindowScript } from "./sliding-window.ts";

const WINDOW_SECONDS = 60;
const WINDOW_MS = WINDOW_SECONDS * 1_000;
/** Maximum wait for Redis per call, in milliseconds. */
const ANSWER_MS = 200;
const UNANSWERED = `Redis did not answer within ${ANSWER_MS} ms`;
/** From this number of keys on, keys without a call in the last window are removed from time to time. */
const SWEEP_FROM_KEYS = 10_000;

/** State of a key's limit after a call. */
export interface Quota {
  readonly allowed: boolean;
  readonly limit: number;
  /** Number of calls that are allowed now. */
  readonly remaining: number;
  /** Whole seconds, 1–60, until the next slot becomes free. */
  readonly resetSeconds: number;
}

export interface RateLimiter {
  /** Counts a call of a key if it is within the limit per minute. Never fails: without Redis it counts in memory. */
  consume(key: string, limit: number): Promise<Quota>;
  /** Returns the quota as far as this gateway knows it, without counting a call. */
  known(key: string, limit: number): Quota;
  /** Returns whether this gateway counts in memory. */
  degraded(): boolean;
}

export interface RateLimiterOptions {
  readonly redis: Redis;
  /** Names this limiter in logs and metrics. */
  readonly name: string;
  /** Prefix of all keys in Redis; different for each limiter. */
  readonly keyPrefix: string;
  readonly logger: Logger;
  /** Milliseconds on a clock that never goes back. */
  readonly clock: () => number;
}

/** Answer of Redis for one call: the count including the call, and when the next slot becomes free. */
interface Answer {
  readonly allowed: boolean;
  readonly count: number;
  readonly msUntilFree: number;
}

/**
 * Creates a limiter with an exact sliding window per key, shared by all gateways through Redis. Each gateway also keeps its
 * own admitted calls, so it never admits more than the limit and can continue from the last count while Redis does not
 * answer. Calls admitted in that time are added to Redis afterwards.
 */
export function createRateLimiter({ redis, name, keyPrefix, logger, clock }: RateLimiterOptions): RateLimiter {
  const fallback = createFallback({ limiter: name, logger, clock });
  const windows = new Map<string, KeyWindow>();
  let sweepFrom = SWEEP_FROM_KEYS;
  /** One limiter per limit. All share their keys, so that a changed plan takes effect immediately. */
  const limiters = new Map<number, RateLimiterRedis>();

  function limiterFor(points: number): RateLimiterRedis {
    const existing = limiters.get(points);
    if (existing) return existing;
    const created = new RateLimiterRedis({
      storeClient: redis,
      points,
      duration: WINDOW_SECONDS,
      keyPrefix,
      customIncrTtlLuaScript: slidingWindowScript,
      rejectIfRedisNotReady: true,
      // A refused key is refused from memory until its next slot becomes free.
      inMemoryBlockOnConsumed: points + 1,
    });
    limiters.set(points, created);
    return created;
  }

  function windowOf(key: string, now: number): KeyWindow {
    const existing = windows.get(key);
    if (existing) return existing;
    if (windows.size >= sweepFrom) {
      for (const [idle, window] of windows) if (window.total(now) === 0) windows.delete(idle);
      sweepFrom = Math.max(SWEEP_FROM_KEYS, 2 * windows.size);
    }
    const created = new KeyWindow(WINDOW_MS);
    windows.set(key, created);
    return created;
  }

  async function ask(key: string, limit: number): Promise<Answer> {
    try {
      const { consumedPoints, msBeforeNext } = await limiterFor(limit).consume(key);
      return { allowed: true, count: consumedPoints, msUntilFree: msBeforeNext };
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return { allowed: false, count: limit, msUntilFree: refusal.msBeforeNext };
    }
  }

  /** Adds calls to Redis that were admitted without it. */
  function addMissed(key: string, window: KeyWindow): void {
    const now = clock();
    const missing = window.missing(now);
    if (missing.length === 0) return;
    const mark = (state: Admission["state"]) => {
      for (const call of missing) window.mark(call, state);
    };
    mark("sent");
    const ages = missing.map(({ at }) => Math.round((now - at) * 1_000));
    redis.eval(addMissedScript, 1, `${keyPrefix}:${key}`, WINDOW_SECONDS, ...ages).then(
      () => mark("counted"),
      () => mark("missed"),
    );
  }

  function decideInMemory(window: KeyWindow, limit: number, at: number): Admission | undefined {
    return window.total(clock()) < limit ? window.admit(at) : undefined;
  }

  /** Decides a call that Redis answered. Redis may allow too much if another call was admitted in memory meanwhile. */
  function decideByAnswer(window: KeyWindow, limit: number, at: number, answer: Answer): Admission | undefined {
    const now = clock();
    if (!answer.allowed) window.reportFull(limit, now);
    const fits = answer.allowed && window.own(now) < limit && answer.count + window.missingCount(now) <= limit;
    const admitted = fits ? window.admit(at) : undefined;
    if (answer.allowed) window.report(answer.count, now, admitted);
    return admitted;
  }

  function quotaOf(window: KeyWindow, limit: number, allowed: boolean, msUntilFree?: number): Quota {
    const now = clock();
    const total = window.total(now);
    const ms = msUntilFree ?? window.msUntilFree(allowed ? total : limit, now);
    return {
      allowed,
      limit,
      remaining: allowed ? Math.max(0, limit - total) : 0,
      resetSeconds: Math.min(WINDOW_SECONDS, Math.max(1, Math.ceil(ms / 1_000))),
    };
  }

  /** Decides a call that Redis did not answer in time. A late answer still corrects the counts. */
  function decideUnanswered(answering: Promise<Answer>, window: KeyWindow, limit: number, at: number): Quota {
    const admitted = decideInMemory(window, limit, at);
    if (admitted) window.mark(admitted, "sent");
    answering.then(
      (answer) => {
        if (answer.allowed) window.report(answer.count, clock(), admitted);
        else if (admitted) window.mark(admitted, "missed");
      },
      () => admitted && window.mark(admitted, "missed"),
    );
    return quotaOf(window, limit, admitted !== undefined);
  }

  return {
    async consume(key, limit) {
      const at = clock();
      const window = windowOf(key, at);
      if (window.own(at) >= limit) return quotaOf(window, limit, false);
      if (!fallback.mayAsk()) return quotaOf(window, limit, decideInMemory(window, limit, at) !== undefined);
      const answering = ask(key, limit);
      const answer = await within(ANSWER_MS, UNANSWERED, answering).catch((error: unknown) => fallback.failed(error));
      if (!answer) return decideUnanswered(answering, window, limit, at);
      const allowed = decideByAnswer(window, limit, at, answer) !== undefined;
      // After an outage the calls of all keys may be missing.
      for (const [other, its] of fallback.answered() ? windows : [[key, window] as const]) addMissed(other, its);
      return quotaOf(window, limit, allowed, allowed === answer.allowed ? answer.msUntilFree : undefined);
    },
    known: (key, limit) => quotaOf(windowOf(key, clock()), limit, true),
    degraded: () => redis.status !== "ready" || fallback.active(),
  };
}

/** Returns a quota in both families of rate limit headers, with equal values. Reset is in seconds from now in both. */
export function quotaHeaders({ limit, remaining, resetSeconds }: Quota): Record<string, string> {
  return {
    "RateLimit-Policy": `"default";q=${limit};w=${WINDOW_SECONDS}`,
    RateLimit: `"default";r=${remaining};t=${resetSeconds}`,
    "X-RateLimit-Limit": String(limit),
    "X-RateLimit-Remaining": String(remaining),
    "X-RateLimit-Reset": String(resetSeconds),
  };
}
