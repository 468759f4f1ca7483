import { takeWhere } from "@vvs/mongo";
import { startOfUtcDay, utcDay } from "@vvs/registration";
import type { Collection, Db } from "mongodb";
import { type CallClass, perCallClass } from "../providers/call-class.ts";
import { type CallCounts, callQuota } from "./call-quota.ts";

export const DAY_MS = 86_400_000;
/** Maximum number of tries to count a call; needing more is a bug, since each further try means that a day has begun. */
const MAX_TRIES = 10;

/** A provider with one of its keys. */
export interface ProviderKey {
  readonly provider: string;
  /** Identifies the key without revealing it. */
  readonly fingerprint: string;
}

/** The calls that were made with a key in one UTC day. */
export interface DayCalls extends CallCounts {
  /** The beginning of the day. */
  readonly day: Date;
}

/** One key's calls of a day. `_id`: `<provider>:<fingerprint>:<YYYY-MM-DD>`. Belongs to no tenant. */
interface ProviderCallsDocument extends DayCalls {
  readonly _id: string;
  readonly provider: string;
  /** The next day has begun: a replica whose clock is behind counts there. */
  readonly is_over?: true;
}

export const providerCallsOf = (db: Db): Collection<ProviderCallsDocument> => db.collection("provider_calls");

const NO_CALLS: CallCounts = { direct: 0, first: 0, runs: 0 };

/** Returns a provider's calls by day from a day on, those of all its keys together; days without a call may be missing. */
export function readCallsByDay(db: Db, provider: string, from: Date): Promise<DayCalls[]> {
  const sums = perCallClass((callClass) => ({ $sum: `$${callClass}` }));
  const group = [{ $group: { _id: "$day", ...sums } }, { $set: { day: "$_id" } }];
  return providerCallsOf(db)
    .aggregate<DayCalls>([{ $match: { provider, day: { $gte: from } } }, ...group])
    .toArray();
}

/** Counts the HTTP calls of one environment's providers, for all replicas. */
export function createProviderCallsStore(db: Db) {
  const collection = providerCallsOf(db);

  /** Creates a day's document, and first marks the day before as over, so that no further call is counted in it. */
  async function begin(key: ProviderKey, day: Date): Promise<void> {
    const before = new Date(day.getTime() - DAY_MS);
    const created = { provider: key.provider, ...NO_CALLS };
    const ended = { $set: { is_over: true as const }, $setOnInsert: { ...created, day: before } };
    await collection.updateOne({ _id: idOf(key, before) }, ended, { upsert: true });
    await collection.updateOne({ _id: idOf(key, day) }, { $setOnInsert: { ...created, day } }, { upsert: true });
  }

  return {
    /** Returns the calls of the day of `at`, or of a later day that has begun by another replica's clock. */
    async read(key: ProviderKey, at: Date): Promise<DayCalls> {
      const day = startOfUtcDay(at);
      const found = await collection.findOne({ _id: idOf(key, day) });
      if (found?.is_over) return this.read(key, new Date(day.getTime() + DAY_MS));
      return found ?? { day, ...NO_CALLS };
    },
    /** Counts as many of `wanted` calls in their day as their class has left. Returns how many, with the calls of the day. */
    async count(
      key: ProviderKey,
      { callClass, wanted, quota, at }: { callClass: CallClass; wanted: number; quota: number; at: Date },
    ): Promise<DayCalls & { granted: number }> {
      let day = startOfUtcDay(at);
      const taking = { wanted, raise: { [callClass]: callQuota.leftIn(callClass, quota) } };
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const _id = idOf(key, day);
        const counted = await takeWhere(collection, { _id, is_over: { $exists: false } }, taking);
        if (counted) return counted;
        if (await collection.findOne({ _id, is_over: true })) day = new Date(day.getTime() + DAY_MS);
        else await begin(key, day);
      }
      throw new Error("a call could not be counted in its day");
    },
  };
}

function idOf({ provider, fingerprint }: ProviderKey, day: Date): string {
  return `${provider}:${fingerprint}:${utcDay(day)}`;
}
