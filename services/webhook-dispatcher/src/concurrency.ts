/** An endpoint gets so many attempts at once until it has answered one: it may turn out to hang. */
export const FIRST_LIMIT = 1;
/** An answer that takes longer says that the endpoint has enough to do. */
const FAST_MS = 1_000;

/**
 * How many attempts at once an endpoint gets after one ended: one more while it answers fast and uses what it has, half
 * after a failure that more of the same could have caused.
 */
export function nextLimit(
  limit: number,
  ended: {
    readonly delivered: boolean;
    readonly durationMs: number;
    readonly statusCode?: number;
    /** In flight when it ended, itself included. */
    readonly inFlight: number;
    readonly max: number;
  },
): number {
  if (ended.delivered)
    return ended.durationMs < FAST_MS && ended.inFlight * 2 >= limit ? Math.min(limit + 1, ended.max) : limit;
  const { statusCode } = ended;
  const isOverload = statusCode === undefined || statusCode === 429 || statusCode >= 500;
  return isOverload ? Math.max(1, Math.floor(limit / 2)) : limit;
}
