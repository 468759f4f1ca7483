import type { ClientSession } from "mongodb";
import type { QueueCollections } from "../questions/documents.ts";

/**
 * The lease of the one process that asks SAM.gov's API, by the database's time. `leaseMs` must be longer than a call: the
 * lease is renewed before each.
 */
export function createAsker(options: {
  collections: Pick<QueueCollections, "asker">;
  /** Unique name of this process. */
  owner: string;
  leaseMs: number;
}) {
  const { owner, leaseMs } = options;
  const { asker } = options.collections;
  const until = { $dateAdd: { startDate: "$$NOW", unit: "millisecond", amount: leaseMs } };
  return {
    /**
     * Takes or renews the lease. Returns the number of the term, which ends when another process takes over; undefined while
     * another process holds the lease.
     */
    async hold(): Promise<number | undefined> {
      const isFree = { $expr: { $lte: ["$until", "$$NOW"] } };
      const last = { $ifNull: ["$term", 0] };
      const term = { $cond: [{ $eq: ["$owner", owner] }, last, { $add: [last, 1] }] };
      const held = await asker.findOneAndUpdate(
        { _id: "asker", $or: [{ owner }, isFree] },
        [{ $set: { owner, until, term } }],
        { returnDocument: "after" },
      );
      return held?.term;
    },
    /** Writes the lease in a transaction, which then can't commit beside a take-over. Returns false once the term has ended. */
    async touch(session: ClientSession, term: number): Promise<boolean> {
      const touched = await asker.updateOne({ _id: "asker", owner, term }, { $inc: { writes: 1 } }, { session });
      return touched.matchedCount === 1;
    },
    /** Gives up the lease, so that another process takes it immediately. */
    async release(): Promise<void> {
      await asker.updateOne({ _id: "asker", owner }, { $set: { owner: null, until: new Date(0) } });
    },
  };
}
