import { hash } from "node:crypto";
import { type Binary, type Collection, type Db, ObjectId } from "mongodb";

/**
 * Number of shards, and so the maximum number of processes that share the work: one process relays a shard at a time.
 */
export const SHARDS = 16;

/** A committed record of which Kafka has not confirmed yet that it is stored. */
export interface OutboxRow {
  /** Its time is that of the database's clock, so that the age of a row does not depend on a replica's. */
  readonly _id: ObjectId;
  /** The record's id, for people; consumers find it in the record itself. */
  readonly record_id: string;
  readonly shard: number;
  readonly topic: string;
  readonly key: string;
  readonly seq: number;
  readonly value: Binary;
  readonly headers: Readonly<Record<string, string>>;
}

export function outboxRows(db: Db): Collection<OutboxRow> {
  return db.collection<OutboxRow>("outbox");
}

/** Returns a key's shard. Rows are stored with it, so the result for a key must never change. */
export function shardOf(key: string): number {
  return hash("sha256", key, "buffer").readUInt32BE(0) % SHARDS;
}

/** Order in which rows are sent; an index supports it. */
export const SEND_ORDER = { key: 1, seq: 1, _id: 1 } as const;

/** Ids from here on are behind those of all rows. */
export const END_ID = new ObjectId(`${"f".repeat(22)}00`);

/**
 * Stores documents that are never sent, unless they are there: one behind the rows of each shard, in both indexes. After a
 * deletion, and to see that nothing more waits, MongoDB looks for the next document that is left. Without these it walks over all
 * that were deleted in the last five minutes.
 */
export async function ensureEnds(db: Db): Promise<void> {
  await outboxRows(db).bulkWrite(
    Array.from({ length: SHARDS }, (_, shard) => ({
      updateOne: {
        filter: { _id: new ObjectId(END_ID.toHexString().slice(0, -2) + shard.toString(16).padStart(2, "0")) },
        update: { $setOnInsert: { shard: shard + 0.5 } },
        upsert: true,
      },
    })),
    { ordered: false },
  );
}

/** Returns the age of the oldest row in milliseconds, by the database's clock and to the second; 0 if there is none. */
export async function oldestRowMs(db: Db): Promise<number> {
  const age = { $subtract: ["$$NOW", { $toDate: "$_id" }] };
  const oldest = outboxRows(db).aggregate<{ age: number }>([
    { $match: { _id: { $lt: END_ID } } },
    { $sort: { _id: 1 } },
    { $limit: 1 },
    { $project: { _id: false, age } },
  ]);
  return Math.max(0, Number((await oldest.next())?.age ?? 0));
}
