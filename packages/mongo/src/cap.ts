import { notTheEffect, release } from "@vvs/deadline";
import { isOutcomeUnknown } from "@vvs/errors";
import type { Collection, Filter } from "mongodb";
import { isDuplicateKey } from "./errors.ts";

/**
 * Milliseconds without a change after which a counter has no reservation in flight. Longer than any call takes from its
 * reservation to the end of its transaction.
 */
const QUIET_MS = 60_000;

/** Counter of an owner's things: never lower than their true number; higher after a crash, until a recount. */
export interface CapDocument {
  readonly _id: string;
  readonly active: number;
  /** Version of the document: a recount replaces only the version that it began with. */
  readonly version: number;
  /**
   * Number of recounts. Reservations made before the newest recount are included in it, so they are not released again.
   */
  readonly recounts: number;
  /** Time of the last change, by the database's clock. */
  readonly changed_at: Date;
}

/** A limit on the number of things that each owner has, exact for any number of concurrent calls and replicas. */
export type Cap = ReturnType<typeof createCap>;

/**
 * Creates a cap. Its counters are written outside of the transactions that create and end things, so that concurrent
 * transactions never conflict. A crash between the two writes leaves a counter too high; therefore a call that would be
 * refused recounts first, if the counter has not changed for a minute.
 */
export function createCap(options: {
  /** One document per owner; the migration creates the collection. */
  counters: Collection<CapDocument>;
  /** Counts the owner's things, with majority reads, as connectMongo's clients do. */
  count: (owner: string) => Promise<number>;
}) {
  const { counters, count } = options;
  const changedBy = (change: { active?: number; recounts?: number }) =>
    ({ $inc: { ...change, version: 1 }, $currentDate: { changed_at: true } }) as const;

  function take(owner: string, limit: number): Promise<CapDocument | null> {
    return counters.findOneAndUpdate({ _id: owner, active: { $lt: limit } }, changedBy({ active: 1 }), {
      returnDocument: "after",
    });
  }

  /** Recounts if there is no counter yet or it is quiet. Of concurrent calls one recounts; the others return. */
  async function recount(owner: string): Promise<void> {
    const claimed = await counters.findOneAndUpdate(quiet(owner), changedBy({}), { returnDocument: "after" });
    if (claimed) {
      const active = await count(owner);
      const unchanged = { _id: owner, version: claimed.version };
      await counters.updateOne(unchanged, { $set: { active }, ...changedBy({ recounts: 1 }) });
    } else if (!(await counters.findOne({ _id: owner }))) {
      const first = { _id: owner, active: await count(owner), version: 1, recounts: 0, changed_at: new Date(0) };
      await counters.insertOne(first).catch((error: unknown) => {
        if (!isDuplicateKey(error)) throw error;
      });
    }
  }

  async function reserve(owner: string, limit: number): Promise<CapDocument | null> {
    const taken = await take(owner, limit);
    if (taken) return taken;
    await recount(owner);
    return take(owner, limit);
  }

  /** Frees a place. If that fails, or a recount came first, the counter is at most too high until a later recount. */
  async function free(owner: string, recounts: number): Promise<void> {
    const counted = { _id: owner, recounts, active: { $gt: 0 } };
    await release(() => counters.updateOne(counted, changedBy({ active: -1 })));
  }

  return {
    /** Returns the owner's number of things, by the counter. */
    async active(owner: string): Promise<number> {
      return (await counters.findOne({ _id: owner }))?.active ?? 0;
    },
    /**
     * Reserves a place by one conditional write and creates the thing. If the creation fails, the place is free again,
     * unless the outcome is unknown. Errors: `refusal` if the limit is reached; errors of `create`.
     */
    async within<T>(
      owner: string,
      { limit, refusal }: { limit: number; refusal: () => Error },
      create: () => Promise<T>,
    ): Promise<T> {
      const reserved = await reserve(owner, limit).catch(notTheEffect);
      if (!reserved) throw refusal();
      try {
        return await create();
      } catch (error) {
        if (!isOutcomeUnknown(error)) await free(owner, reserved.recounts);
        throw error;
      }
    },
    /** Ends a thing and frees its place, unless `end` resolves to undefined, which means that it had ended before. */
    async freeing<T>(owner: string, end: () => Promise<T | undefined>): Promise<T | undefined> {
      const before = await counters.findOne({ _id: owner });
      const ended = await end();
      if (ended !== undefined && before) await free(owner, before.recounts);
      return ended;
    },
  };
}

function quiet(owner: string): Filter<CapDocument> {
  return { _id: owner, $expr: { $lt: ["$changed_at", { $subtract: ["$$NOW", QUIET_MS] }] } };
}
