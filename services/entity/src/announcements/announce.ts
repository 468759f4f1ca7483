import { type ClientSession, ObjectId } from "mongodb";
import type { Collections } from "../model/documents.ts";

/** The index of the pages that are not published. */
export const UNPUBLISHED = {
  name: "unpublished",
  key: { unpublished: 1, _id: 1 },
  partialFilterExpression: { unpublished: { $exists: true } },
} as const;

/**
 * Stores, in the transaction that finishes a load or a withdrawal, that this is to be published, after all changes made so far:
 * those of this run, and those of earlier ones that were killed. Call it under the load lock, so that no other run is changing
 * anything. Publishing needs Kafka, so the service does it and not the process that loads.
 */
export async function announceChanges(
  { changes, announcements }: Collections,
  session: ClientSession,
  { runId, loadId, withdrawn }: { runId: ObjectId; loadId: string; withdrawn: boolean },
): Promise<void> {
  const found = await changes.distinct("unpublished", UNPUBLISHED.partialFilterExpression, { session });
  const runs = found.filter((run) => run !== undefined);
  await announcements.insertOne({ _id: runId, load_id: loadId, withdrawn, runs }, { session });
}

/** Stores, in the transaction that marks a load as withdrawn, that this is to be published. */
export async function announceWithdrawal(
  { announcements }: Collections,
  session: ClientSession,
  loadId: string,
): Promise<void> {
  const announcement = { _id: new ObjectId(), load_id: loadId, withdrawn: true, begun: true as const, runs: [] };
  await announcements.insertOne(announcement, { session });
}
