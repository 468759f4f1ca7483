/** How long to wait between attempts, in milliseconds. */
export interface Backoff {
  /** After the first failure. */
  readonly firstMs: number;
  /** The wait doubles with each further failure, up to this. */
  readonly longestMs: number;
}

/** More doublings than any backoff needs, so that the exponent cannot overflow. */
const MAX_DOUBLINGS = 30;

/**
 * Returns how long to wait after `failures` failures in a row (1 or more), in milliseconds. The result is random between
 * half of the wait and all of it, so that callers that failed together do not come back together. `random` returns 0–1.
 */
export function backoffMs(failures: number, backoff: Backoff, random: () => number = Math.random): number {
  const whole = Math.min(backoff.longestMs, backoff.firstMs * 2 ** Math.min(failures - 1, MAX_DOUBLINGS));
  return whole * (0.5 + random() / 2);
}
