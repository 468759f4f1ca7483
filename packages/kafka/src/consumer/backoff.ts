import type { Backoff } from "@vvs/retry";

/** Waits between attempts to process a record, and between attempts to join the group. */
export const BACKOFF: Backoff = { firstMs: 200, longestMs: 30_000 };
