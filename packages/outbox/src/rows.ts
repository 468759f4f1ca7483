import { hash } from "node:crypto";
import type { Binary, Collection, Db, ObjectId } from "mongodb";

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

/** Returns the age of the oldest row in milliseconds, by the database's clock and to the second; 0 if there is none. */
export async function oldestRowMs(db: Db): Promise<number> {
  const age = { $subtract: ["$$NOW", { $toDate: "$_id" }] };
  const oldest = outboxRows(db).aggregate<{ age: number }>([
    { $sort: { _id: 1 } },
    { $limit: 1 },
    { $project: { _id: false, age } },
  ]);
  return Math.max(0, Number((await oldest.next())?.age ?? 0));
}
