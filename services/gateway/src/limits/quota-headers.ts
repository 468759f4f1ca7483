import { type Quota, WINDOW_SECONDS } from "./rate-limiter.ts";

/** One quota in both families of headers, which never contradict each other. Reset is seconds from now in both. */
export function quotaHeaders({ limit, remaining, resetSeconds }: Quota): Record<string, string> {
  return {
    "RateLimit-Policy": `"default";q=${limit};w=${WINDOW_SECONDS}`,
    RateLimit: `"default";r=${remaining};t=${resetSeconds}`,
    "X-RateLimit-Limit": String(limit),
    "X-RateLimit-Remaining": String(remaining),
    "X-RateLimit-Reset": String(resetSeconds),
  };
}
