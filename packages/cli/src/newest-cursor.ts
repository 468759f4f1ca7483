import type { Client } from "@vendor-verification/client";

/** Limits of calls that follow events: an outage of a quarter of an hour does not end them. */
export const followLimits = { timeoutMs: 900_000, maxAttempts: 1_000 };

/** Returns the cursor after the newest event. It reads past all events kept, 100 with each call. */
export async function newestCursor(client: Client, signal: AbortSignal): Promise<string> {
  for (let after = "start"; ; ) {
    const page = await client.readEvents({ after, limit: 100 }, { signal });
    after = page.next_cursor;
    if (page.events.length < 100) return after;
  }
}
