import type { Logger } from "@vvs/logging";
import { forAged, inTransaction, type Keeping, superviseAging } from "@vvs/mongo";
import type { SupervisedLoop } from "@vvs/retry";
import type { ClientSession, Db, MongoClient } from "mongodb";
import { collections } from "../store.ts";

interface Retention {
  readonly db: Db;
  readonly client: MongoClient;
  readonly keeping: Keeping;
  readonly stopping: AbortSignal;
}

/**
 * Removes the sandbox's events that are past their time. In the same transaction their monitors note it, so that an event
 * whose record is read again is not stored a second time. Returns how many were removed.
 */
export function removeAged({ db, client, ...aging }: Retention & { now: Date }): Promise<number> {
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

  // Events without a position are not in the order of the readers yet.
  const filter = { position: { $exists: true } };
  return forAged(events, { ...aging, filter }, (organizationId, ids) =>
    inTransaction(client, (session) => remove(session, organizationId, ids)),
  );
}

/** Removes the sandbox's aged events from time to time. */
export function runSandboxRetention(options: Retention & { now: () => Date; logger: Logger }): SupervisedLoop {
  const { db, client, keeping, ...more } = options;
  return superviseAging({
    ...more,
    round: (now) => removeAged({ db, client, keeping, stopping: options.stopping, now }),
    done: "aged sandbox events were removed",
    counted: "removed",
    failure: "aged sandbox events can't be removed; retrying",
    recovery: "aged sandbox events are removed again",
  });
}
