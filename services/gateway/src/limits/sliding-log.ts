import { RateLimiterCompatibleAbstract, RateLimiterRes } from "rate-limiter-flexible";

/**
 * One key's accepted calls of the last window, oldest first, as microseconds of Redis' own clock. A call is accepted
 * while fewer than the limit are in it, so no window, wherever it begins, ever holds more; refused calls are not
 * counted. Costs about 10 bytes per accepted call of the last minute.
 *
 * Called by rate-limiter-flexible with points, seconds, limit; answers with what it expects: calls so far (limit + 1 for
 * a refusal) and milliseconds until a slot frees.
 */
export const slidingLogScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local window = ARGV[2] * 1000000
local limit = tonumber(ARGV[3])
local oldest = redis.call('LINDEX', KEYS[1], 0)
while oldest and tonumber(oldest) <= now - window do
  redis.call('LPOP', KEYS[1])
  oldest = redis.call('LINDEX', KEYS[1], 0)
end
local count = redis.call('LLEN', KEYS[1])
if count < limit then
  redis.call('RPUSH', KEYS[1], string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], ARGV[2] * 1000)
  return { count + 1, math.ceil(((oldest or now) + window - now) / 1000) }
end
local freed = redis.call('LINDEX', KEYS[1], count - limit) or now
return { limit + 1, math.ceil((freed + window - now) / 1000) }
`;

/** The same in memory, for a while without Redis; shared by the limiters of all limits. */
export type MemoryLog = Map<string, number[]>;

export interface MemoryLimiterOptions {
  readonly log: MemoryLog;
  readonly points: number;
  readonly windowSeconds: number;
  readonly keyPrefix: string;
  /** Milliseconds on a clock that never goes back. */
  readonly clock: () => number;
  /** Told of every call that is decided here. */
  readonly onUse?: () => void;
}

/** Keys beyond this are swept of those that are idle. */
const SWEEP_FROM_KEYS = 10_000;

/** What rate-limiter-flexible turns to when Redis fails; it only ever consumes. */
export class MemorySlidingLimiter extends RateLimiterCompatibleAbstract {
  override readonly keyPrefix: string;
  override blockDuration = 0;
  override execEvenly = false;
  readonly #options: MemoryLimiterOptions;

  constructor(options: MemoryLimiterOptions) {
    super();
    this.keyPrefix = options.keyPrefix;
    this.#options = options;
  }

  override async consume(key: string | number): Promise<RateLimiterRes> {
    const { log, points, windowSeconds, clock, onUse } = this.#options;
    onUse?.();
    const now = clock();
    const since = now - windowSeconds * 1_000;
    if (log.size >= SWEEP_FROM_KEYS) sweep(log, since);
    const name = String(key);
    const times = (log.get(name) ?? []).filter((time) => time > since);
    log.set(name, times);
    if (times.length < points) {
      times.push(now);
      return new RateLimiterRes(points - times.length, Math.ceil(times[0]! - since), times.length, times.length === 1);
    }
    const freed = times[times.length - points] ?? now;
    throw new RateLimiterRes(0, Math.ceil(freed - since), points + 1, false);
  }
}

function sweep(log: MemoryLog, since: number): void {
  for (const [name, times] of log) if ((times.at(-1) ?? 0) <= since) log.delete(name);
}
