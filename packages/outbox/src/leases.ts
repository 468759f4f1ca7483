import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { ClientSession, Collection, Db } from "mongodb";
import { SHARDS } from "./rows.ts";

interface Lease {
  readonly _id: number;
  readonly owner: string | null;
  readonly until: Date;
  /** Number of transactions that touched the lease. */
  readonly writes?: number;
}

interface Relay {
  readonly _id: string;
  readonly until: Date;
}

/** How long the shards of a process that died stay leased, in milliseconds, unless set. */
const LEASE_MS = 15_000;

/** The shards that this process may work on. */
export type Leases = ReturnType<typeof createLeases>;

/** The kinds of work for which a database's shards are leased; each kind has its own leases. */
export type LeasedName =
  | "outbox"
  | "event_sequencer"
  | "registry_publisher"
  | "audit_reporter"
  | "notification_reporter"
  | "state_publisher"
  | "sweep";

/** Creates the documents of the shards, with no owner. */
export async function migrateLeases(db: Db, name: LeasedName): Promise<void> {
  const { shards, relays } = collections(db, name);
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
 * Leases shards by the database's clock, so that replicas' clocks do not matter. Each relay registers itself, so that
 * all know how many relays share the shards. A relay that dies is counted, and keeps its shards, until its lease
 * expires.
 */
export function createLeases(options: {
  db: Db;
  name: LeasedName;
  /** Unique name of the holder; this machine's with a random id where absent. */
  owner?: string;
  leaseMs?: number;
}) {
  const { db, name, owner = `${hostname()}:${randomUUID()}`, leaseMs = LEASE_MS } = options;
  const { shards, relays } = collections(db, name);
  const until = { $dateAdd: { startDate: "$$NOW", unit: "millisecond", amount: leaseMs } };
  const expired = { $expr: { $lte: ["$until", "$$NOW"] } };
  const valid = { owner, $expr: { $gt: ["$until", "$$NOW"] } };
  let mine: readonly number[] = [];
  let validUntilMs = 0;
  let isStopping = false;
  let settled: Promise<unknown> = Promise.resolve();

  async function shareOf(): Promise<number> {
    await relays.updateOne({ _id: owner }, [{ $set: { until } }], { upsert: true });
    const living = await relays.countDocuments({ $expr: { $gt: ["$until", "$$NOW"] } });
    return Math.ceil(SHARDS / Math.max(1, living));
  }

  async function keep(): Promise<number[]> {
    await shards.updateMany(valid, [{ $set: { until } }]);
    const kept = await shards.find(valid).toArray();
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
    await settled;
    await shards.updateMany({ owner, _id: { $in: surplus } }, { $set: { owner: null, until: new Date(0) } });
  }

  return {
    db,
    name,
    leaseMs,
    /**
     * Renews the held shards, gives up those beyond a fair share, and takes free ones. Returns the held shards. Errors:
     * the database's; the shards stay held until their leases expire.
     */
    async renew(): Promise<readonly number[]> {
      const startedMs = performance.now();
      const share = await shareOf();
      const kept = await keep();
      // No new work begins on the surplus, and another relay may take it once the running work has ended.
      mine = kept.slice(0, share);
      await giveUp(kept.slice(share));
      mine = [...mine, ...(await take(share - mine.length))];
      validUntilMs = startedMs + leaseMs;
      return mine;
    },
    /**
     * Returns the held shards whose leases have not expired by this process's own clock; none after `stop`. Call it before
     * each step of the work.
     */
    held: () => (performance.now() < validUntilMs && !isStopping ? mine : []),
    /** Makes surplus shards stay held until this step of the work has ended. Returns the step. */
    settling<T>(step: Promise<T>): Promise<T> {
      settled = Promise.allSettled([settled, step]).then(() => undefined);
      return step;
    },
    /**
     * Writes to a shard's lease in a transaction, which can then commit only if no other process has taken the shard
     * before. Call it first in the transaction. Returns false if the lease has expired or is another process's.
     */
    async touch(session: ClientSession, shard: number): Promise<boolean> {
      const touched = await shards.updateOne({ _id: shard, ...valid }, { $inc: { writes: 1 } }, { session });
      return touched.matchedCount === 1;
    },
    /** Lets no further step begin. The shards stay leased until `release`, for the one that runs. */
    stop(): void {
      isStopping = true;
    },
    /** Gives up all shards. */
    async release(): Promise<void> {
      mine = [];
      await shards.updateMany({ owner }, { $set: { owner: null, until: new Date(0) } });
      await relays.deleteOne({ _id: owner });
    },
  };
}

function collections(db: Db, name: LeasedName): { shards: Collection<Lease>; relays: Collection<Relay> } {
  return { shards: db.collection<Lease>(`${name}_shards`), relays: db.collection<Relay>(`${name}_relays`) };
}
