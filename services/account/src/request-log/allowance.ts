import type { Allowance } from "../model/logged-requests.ts";

/** Number of requests that an organization can log in an environment at any speed. */
export const BURST = 20_000;
/** Number of requests per minute that it can log after that. */
export const PER_MINUTE = 60;

const MINUTE_MS = 60_000;

/**
 * Returns how many requests must be left after a request is logged. So answers leave room for errors, and refusals of
 * calls over the limit, which a client can cause without end, leave room for both.
 */
function reserved(status: number): number {
  if (status === 429) return BURST / 2;
  return status >= 400 ? 0 : BURST / 10;
}

/**
 * Chooses the requests that are logged, in their order. An allowance fills up with time; without one it is full.
 */
export function withinAllowance<T extends { readonly status: number }>(
  before: Allowance | undefined,
  requests: readonly T[],
  now: Date,
): { readonly kept: T[]; readonly allowance: Allowance } {
  const elapsedMs = before ? Math.max(0, now.getTime() - before.at.getTime()) : 0;
  let left = before ? Math.min(BURST, before.left + (elapsedMs / MINUTE_MS) * PER_MINUTE) : BURST;
  const kept = requests.filter(({ status }) => {
    const fits = left - 1 >= reserved(status);
    if (fits) left--;
    return fits;
  });
  return { kept, allowance: { left, at: before && before.at > now ? before.at : now } };
}
