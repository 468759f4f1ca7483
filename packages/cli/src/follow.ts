import type { Client } from "@vendor-verification/client";
import type { Option } from "./command.ts";

/** Limits of calls that follow events or a job: an outage of a quarter of an hour does not end them. */
export const followLimits = { timeoutMs: 900_000, maxAttempts: 1_000 };

/** Option that selects where to begin. */
export const afterOption: Option = {
  value: "CURSOR",
  does: "Begin after this cursor, with start (the oldest event kept) or now. Default: now, which is only new events.",
};

/** Returns the cursor to begin after. From then on no event is missed. */
export async function beginning(client: Client, after: string | undefined, signal: AbortSignal): Promise<string> {
  if (after !== undefined && after !== "now") return after;
  return (await client.readEvents({ after: "now" }, { signal })).next_cursor;
}
