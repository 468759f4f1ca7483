import type { Db, Filter } from "mongodb";
import type { Frequency } from "../model/frequency.ts";
import type { MonitorDocument } from "../model/monitor.ts";
import type { Slice } from "../model/position.ts";
import { claimableIn, collections } from "../store.ts";
import { isSwept } from "./standing.ts";

export type StandingStore = ReturnType<typeof createStandingStore>;

/** The standing monitors of all organizations of one environment. Only for the sweep. */
export function createStandingStore(db: Db, { runTimeoutMs }: { runTimeoutMs: number }) {
  const { monitors } = collections(db);
  return {
    /** Returns the monitors of a frequency whose place is in the slice, in the order of their places. */
    inSlice(frequency: Frequency, { from, to }: Slice, limit: number): Promise<MonitorDocument[]> {
      const place: Filter<MonitorDocument> = { frequency, "standing.offset_ms": { $gte: from, $lte: to } };
      return monitors
        .find(place, { batchSize: limit + 1 })
        .sort({ "standing.offset_ms": 1 })
        .limit(limit)
        .toArray();
    },

    /** Returns all monitors of a frequency at a place. */
    at: (frequency: Frequency, place: number): Promise<MonitorDocument[]> =>
      monitors.find({ frequency, "standing.offset_ms": place }).toArray(),

    /** Returns monitors with an extra run that is due. */
    withDueExtra: (now: Date, limit: number): Promise<MonitorDocument[]> =>
      monitors
        .find({ "standing.until": { $lte: now } })
        .limit(limit)
        .toArray(),

    /**
     * Ends the standing of monitors whose newest run is still the one in `seen`, as `withoutStanding` does. Returns how many they
     * were.
     */
    async end(changes: readonly { readonly seen: MonitorDocument; readonly next: MonitorDocument }[]): Promise<number> {
      const updates = changes.map(({ seen, next }) => {
        const { _id, organization_id, run_seq, standing } = seen;
        const filter: Filter<MonitorDocument> = {
          // An older version marks monitors that were canceled during a run; these have no place, so no schedule is written.
          ...{ _id, organization_id, run_seq, ...(isSwept(seen) && { status: "active" }) },
          "standing.run_seq": standing?.run_seq,
        };
        const confirmed = next.last_run?.confirmed;
        const $set = {
          next_run_at: next.next_run_at,
          ...(confirmed && { "last_run.confirmed": { $literal: confirmed } }),
        };
        // A file may have added an extra run since the monitor was read.
        const schedule = isSwept(seen) ? [{ $set }, { $set: { claimable_at: claimableIn(runTimeoutMs) } }] : [];
        return { updateOne: { filter, update: [...schedule, { $unset: "standing" }] } };
      });
      return updates.length > 0 ? (await monitors.bulkWrite(updates, { ordered: false })).matchedCount : 0;
    },
  };
}
