import { type Backoff, pause } from "@vvs/retry";

/** Waits between attempts to process a record, and between attempts to join the group. */
export const BACKOFF: Backoff = { firstMs: 200, longestMs: 30_000 };

/** Returns the promise's value, or undefined if it takes longer than `ms`. Errors: the promise's own. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const settled = new AbortController();
  try {
    return await Promise.race([promise, pause(ms, settled.signal).then(() => undefined)]);
  } finally {
    settled.abort();
  }
}
