import { type Quota, WINDOW_SECONDS } from "./rate-limiter.ts";

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
