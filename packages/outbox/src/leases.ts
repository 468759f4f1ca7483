import type { Collection, Db } from "mongodb";
import { SHARDS } from "./rows.ts";

interface Lease {
  readonly _id: number;
  readonly owner: string | null;
  readonly until: Date;
}

interface Relay {
  readonly _id: string;
  readonly until: Date;
}

/** Which shards this process may send. */
export interface Leases {
  /**
   * Renews what is held, gives up what is more than a fair share, takes what nobody holds. Returns the shards held.
   * Errors: the database's; what was held is still held until its time is up.
   */
  renew(): Promise<readonly number[]>;
  /** The shards whose lease has not run out, by this process's own reckoning. */
  held(): readonly number[];
  /** Gives up everything at once. */
  release(): Promise<void>;
}

/** Creates the shards' documents, held by nobody. */
export async function migrateLeases(db: Db): Promise<void> {
  const { shards, relays } = collections(db);
  await relays.createIndex({ until: 1 }, { expireAfterSeconds: 3_600 });
  const all = Array.from({ length: SHARDS }, (_, shard) => shard);
  await shards.bulkWrite(
    all.map((shard) => ({
      updateOne: {
        filter: { _id: shard },
        update: { $setOnInsert: { owner: null, until: new Date(0) } },
        upsert: true,
      },
    })),
    { ordered: false },
  );
}

/**
 * Shards are leased by the database's clock, so that replicas' clocks do not matter. Each relay makes itself known, so
 * that all know how many share the shards; one that dies is counted, and keeps its shards, until its lease runs out.
 */
export function createLeases(options: {
  db: Db;
  owner: string;
  leaseMs: number;
  /** Resolves when nothing that was held until now is being sent. */
  settled: () => Promise<void>;
}): Leases {
  const { owner, leaseMs } = options;
  const { shards, relays } = collections(options.db);
  const until = { $dateAdd: { startDate: "$$NOW", unit: "millisecond", amount: leaseMs } };
  const expired = { $expr: { $lte: ["$until", "$$NOW"] } };
  let mine: readonly number[] = [];
  let validUntilMs = 0;

  async function shareOf(): Promise<number> {
    await relays.updateOne({ _id: owner }, [{ $set: { until } }], { upsert: true });
    const living = await relays.countDocuments({ $expr: { $gt: ["$until", "$$NOW"] } });
    return Math.ceil(SHARDS / Math.max(1, living));
  }

  async function keep(): Promise<number[]> {
    await shards.updateMany({ owner, $expr: { $gt: ["$until", "$$NOW"] } }, [{ $set: { until } }]);
    const kept = await shards.find({ owner, $expr: { $gt: ["$until", "$$NOW"] } }).toArray();
    return kept.map(({ _id }) => _id);
  }

  async function take(count: number): Promise<number[]> {
    const taken: number[] = [];
    while (taken.length < count) {
      const lease = await shards.findOneAndUpdate(expired, [{ $set: { owner, until } }]);
      if (!lease) break;
      taken.push(lease._id);
    }
    return taken;
  }

  async function giveUp(surplus: number[]): Promise<void> {
    if (surplus.length === 0) return;
    await options.settled();
    await shards.updateMany({ owner, _id: { $in: surplus } }, { $set: { owner: null, until: new Date(0) } });
  }

  return {
    async renew() {
      const startedMs = performance.now();
      const share = await shareOf();
      const kept = await keep();
      // The surplus is not sent from here on, and another relay may take it once the last page has arrived.
      mine = kept.slice(0, share);
      await giveUp(kept.slice(share));
      mine = [...mine, ...(await take(share - mine.length))];
      validUntilMs = startedMs + leaseMs;
      return mine;
    },
    held: () => (performance.now() < validUntilMs ? mine : []),
    async release() {
      mine = [];
      await shards.updateMany({ owner }, { $set: { owner: null, until: new Date(0) } });
      await relays.deleteOne({ _id: owner });
    },
  };
}

function collections(db: Db): { shards: Collection<Lease>; relays: Collection<Relay> } {
  return { shards: db.collection<Lease>("outbox_shards"), relays: db.collection<Relay>("outbox_relays") };
}
