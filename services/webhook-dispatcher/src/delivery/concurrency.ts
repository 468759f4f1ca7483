import type { Attempt } from "../model/delivery.ts";

/** An answer that takes longer than this shows that the endpoint is busy. */
const FAST_MS = 1_000;

/**
 * Returns an endpoint's limit of attempts in flight after one of them ended: one more if it answers fast and uses its
 * limit, half of it after a failure that too many attempts can cause. `inFlight` includes the attempt that ended.
 */
export function nextLimit(
  limit: number,
  { error, status_code, duration_ms }: Pick<Attempt, "error" | "status_code" | "duration_ms">,
  { inFlight, max }: { inFlight: number; max: number },
): number {
  if (error === undefined) return duration_ms < FAST_MS && inFlight * 2 >= limit ? Math.min(limit + 1, max) : limit;
  const isOverload = status_code === undefined || status_code === 429 || status_code >= 500;
  return isOverload ? Math.max(1, Math.floor(limit / 2)) : limit;
}
