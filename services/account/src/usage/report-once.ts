import { inTransaction } from "@vvs/mongo";
import type { ClientSession } from "mongodb";
import type { Basics } from "../parts.ts";

/** Runs `add` in a transaction, but only once for each report id: a gateway sends a report again until it is answered. */
export function reportOnce(
  { client, store, now }: Omit<Basics, "audit">,
  reportId: string,
  add: (session: ClientSession) => Promise<void>,
): Promise<void> {
  return inTransaction(client, async (session) => {
    const first = { $setOnInsert: { at: now() } };
    const { upsertedCount } = await store.usageReports.updateOne({ _id: reportId }, first, { session, upsert: true });
    if (upsertedCount > 0) await add(session);
  });
}
