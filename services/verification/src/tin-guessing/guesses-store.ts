import { createCollections, giveBack, take } from "@vvs/mongo";
import { startOfUtcDay, utcDay } from "@vvs/registration";
import type { Tenant } from "@vvs/tenant";
import { Binary, type Db } from "mongodb";

/** TINs count for this many milliseconds. */
const WINDOW_MS = 24 * 60 * 60 * 1_000;
/** How long the number of failures of a day is kept. */
const FAILURES_KEPT_SECONDS = 30 * 24 * 60 * 60;

/** What TINs are tried on: a vendor, or a name. */
export interface GuessTarget {
  readonly kind: "entity" | "name";
  /** The entity's id, or a hash of the name. */
  readonly key: string;
}

/** The TINs that an organization asked about one target, except for those that matched. */
interface TinGuessesDocument {
  /** `<organization>:<kind>:<key>`. */
  readonly _id: string;
  /** By their fingerprints, with the time of the first call about each, and the number of calls that may have asked it. */
  readonly tins: readonly { readonly tin: Binary; readonly at: Date; readonly calls: number }[];
  readonly expires_at: Date;
}

/** How many questions of an organization failed in a day, those being asked included. */
interface TinFailuresDocument {
  /** `<organization>:<YYYY-MM-DD>`. */
  readonly _id: string;
  /** The beginning of the day, UTC. */
  readonly day: Date;
  readonly count: number;
}

/** Returns the collections in the live database. */
const collectionsOf = (db: Db) => ({
  guesses: db.collection<TinGuessesDocument>("tin_guesses"),
  failures: db.collection<TinFailuresDocument>("tin_failures"),
});

/** Creates the collections and indexes. It may run repeatedly, and while services run. */
export async function migrateGuesses(db: Db): Promise<void> {
  const { guesses, failures } = collectionsOf(db);
  await createCollections(db, [guesses.collectionName, failures.collectionName]);
  await guesses.createIndex({ expires_at: 1 }, { expireAfterSeconds: 0 });
  await failures.createIndex({ day: 1 }, { expireAfterSeconds: FAILURES_KEPT_SECONDS });
}

/** Counts what organizations ask about TINs in the live environment. Errors: the database's. */
export function createGuessesStore(db: Db) {
  const { guesses, failures } = collectionsOf(db);
  return {
    /**
     * Counts a TIN that is about to be asked about a target, unless it counts already. Returns false, and counts nothing,
     * where `limit` other TINs count.
     */
    async addTin(
      tenant: Tenant,
      { target, tinHash, limit, at }: { target: GuessTarget; tinHash: Uint8Array; limit: number; at: Date },
    ): Promise<boolean> {
      const tin = new Binary(tinHash);
      const since = new Date(at.getTime() - WINDOW_MS);
      const current = { $filter: { input: { $ifNull: ["$tins", []] }, cond: { $gt: ["$$this.at", since] } } };
      const added = { $concatArrays: ["$tins", [{ tin, at, calls: 1 }]] };
      const unlessFull = { $cond: [{ $gte: [{ $size: "$tins" }, limit] }, "$tins", added] };
      const tins = { $cond: [{ $in: [tin, "$tins.tin"] }, callsChanged(tin, 1), unlessFull] };
      // Repeated by MongoDB where another call creates the document at the same moment.
      const counted = await guesses.findOneAndUpdate(
        { _id: targetId(tenant, target) },
        [{ $set: { tins: current } }, { $set: { tins, expires_at: new Date(at.getTime() + WINDOW_MS) } }],
        { upsert: true, returnDocument: "after" },
      );
      return counted!.tins.some((each) => Buffer.from(tinHash).equals(each.tin.value()));
    },
    /** A TIN that matched no longer counts for a target: nothing is left to guess. */
    async removeTin(tenant: Tenant, { target, tinHash }: { target: GuessTarget; tinHash: Uint8Array }): Promise<void> {
      const matched = { $pull: { tins: { tin: new Binary(tinHash) } } };
      await guesses.updateOne({ _id: targetId(tenant, target) }, matched);
    },
    /** A call that counted a TIN asked no provider. The TIN no longer counts, unless another call may have asked it. */
    async returnTin(tenant: Tenant, { target, tinHash }: { target: GuessTarget; tinHash: Uint8Array }): Promise<void> {
      const asked = { $filter: { input: "$tins", cond: { $gt: ["$$this.calls", 0] } } };
      await guesses.updateOne({ _id: targetId(tenant, target) }, [
        { $set: { tins: callsChanged(new Binary(tinHash), -1) } },
        { $set: { tins: asked } },
      ]);
    },
    /**
     * Counts a question as failed before it is asked, so that questions in flight count. Returns false, and counts nothing,
     * where the day's `limit` is reached.
     */
    async addFailure(tenant: Tenant, { limit, at }: { limit: number; at: Date }): Promise<boolean> {
      const one = { wanted: 1, raise: { count: limit }, set: { day: startOfUtcDay(at) } };
      return (await take(failures, dayId(tenant, at), one)).granted === 1;
    },
    /** A question that was counted at this time did not fail. */
    removeFailure: (tenant: Tenant, at: Date): Promise<void> => giveBack(failures, [dayId(tenant, at)], "count"),
  };
}

/** Returns the TINs with another number of calls about one of them. */
function callsChanged(tin: Binary, by: 1 | -1) {
  const changed = { $mergeObjects: ["$$this", { calls: { $add: ["$$this.calls", by] } }] };
  return { $map: { input: "$tins", in: { $cond: [{ $eq: ["$$this.tin", tin] }, changed, "$$this"] } } };
}

function targetId({ organizationId }: Tenant, { kind, key }: GuessTarget): string {
  return `${organizationId}:${kind}:${key}`;
}

function dayId({ organizationId }: Tenant, at: Date): string {
  return `${organizationId}:${utcDay(at)}`;
}
