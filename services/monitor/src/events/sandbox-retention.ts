import type { Logger } from "@vvs/logging";
import { agedBatches, inTransaction, type Keeping } from "@vvs/mongo";
import { pause, type SupervisedLoop, superviseLoop } from "@vvs/retry";
import type { ClientSession, Db, MongoClient } from "mongodb";
import type { EventDocument } from "../monitors/monitor.ts";
import { collections } from "../store.ts";

const ROUND_MS = 10 * 60_000;
/** Pause after each batch, so that runs and events come first. */
const PAUSE_MS = 200;

interface Aging {
  readonly db: Db;
  readonly client: MongoClient;
  readonly keeping: Keeping;
  readonly stopping: AbortSignal;
}

/**
 * Removes the sandbox's events that are past their time. In the same transaction their monitors note it, so that an event
 * whose record is read again is not stored a second time. Returns how many were removed.
 */
export async function removeAged({ db, client, keeping, stopping, now }: Aging & { now: Date }): Promise<number> {
  const { events, monitors } = collections(db);

  async function remove(session: ClientSession, organization_id: string, ids: readonly string[]): Promise<number> {
    const aged = { _id: { $in: [...ids] }, organization_id };
    const newest = await events
      .aggregate<{ _id: string; run_seq: number }>(
        [{ $match: aged }, { $group: { _id: "$monitor_id", run_seq: { $max: "$run_seq" } } }],
        { session },
      )
      .toArray();
    const notes = newest.map(({ _id, run_seq }) => ({
      updateOne: { filter: { _id, organization_id }, update: { $max: { events_removed_to: run_seq } } },
    }));
    if (notes.length > 0) await monitors.bulkWrite(notes, { session });
    return (await events.deleteMany(aged, { session })).deletedCount;
  }

  let removed = 0;
  // Events without a position are not in the order of the readers yet.
  const filter = { position: { $exists: true } };
  for await (const { organizationId, ids } of agedBatches<EventDocument>(events, { filter, keeping, now })) {
    removed += await inTransaction(client, (session) => remove(session, organizationId, ids));
    await pause(PAUSE_MS, stopping);
    if (stopping.aborted) break;
  }
  return removed;
}

/** Removes the sandbox's aged events every ten minutes. Replicas may do so at the same time. */
export function runSandboxRetention(options: Aging & { now: () => Date; logger: Logger }): SupervisedLoop {
  const { now, stopping, logger } = options;
  return superviseLoop({
    async round() {
      const removed = await removeAged({ ...options, now: now() });
      if (removed > 0) logger.info({ removed }, "aged sandbox events were removed");
      return ROUND_MS;
    },
    failure: "aged sandbox events can't be removed; retrying",
    recovery: "aged sandbox events are removed again",
    backoff: { firstMs: 1_000, longestMs: 60_000 },
    stopping,
    logger,
  });
}
