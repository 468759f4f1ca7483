import { take } from "@vvs/mongo";
import { startOfUtcDay, utcDay } from "@vvs/registration";
import type { Collection, Db } from "mongodb";
import { type CallClass, callClasses, perCallClass } from "../providers/call-class.ts";
import { type CallCounts, callQuota } from "./call-quota.ts";

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
  return {
    /** Returns the calls of the day of `at`. */
    async read(key: ProviderKey, at: Date): Promise<DayCalls> {
      const day = startOfUtcDay(at);
      return (await collection.findOne({ _id: idOf(key, day) })) ?? { day, ...NO_CALLS };
    },
    /** Counts as many of `wanted` calls on the day of `at` as their class has left. Returns how many, with the calls of the day. */
    count(
      key: ProviderKey,
      { callClass, wanted, quota, at }: { callClass: CallClass; wanted: number; quota: number; at: Date },
    ): Promise<DayCalls & { granted: number }> {
      const day = startOfUtcDay(at);
      return take(collection, idOf(key, day), {
        wanted,
        raise: { [callClass]: callQuota.leftIn(callClass, quota) },
        numbers: callClasses,
        set: { provider: key.provider, day },
      });
    },
  };
}

function idOf({ provider, fingerprint }: ProviderKey, day: Date): string {
  return `${provider}:${fingerprint}:${utcDay(day)}`;
}
