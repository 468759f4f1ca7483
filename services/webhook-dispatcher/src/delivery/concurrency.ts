/** Limit of an endpoint that has not answered yet: it may turn out to hang. */
export const FIRST_LIMIT = 1;
/** An answer that takes longer than this shows that the endpoint is busy. */
const FAST_MS = 1_000;

/**
 * Returns an endpoint's limit of attempts in flight after one of them ended: one more where it answers fast and uses its
 * limit, half of it after a failure that too many attempts can cause.
 */
export function nextLimit(
  limit: number,
  ended: {
    readonly delivered: boolean;
    readonly durationMs: number;
    readonly statusCode?: number;
    /** Attempts in flight when it ended, itself included. */
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
