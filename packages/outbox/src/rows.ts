import { createHash } from "node:crypto";
import type { Binary, Collection, Db, ObjectId } from "mongodb";

/**
 * Number of shards, and so the maximum number of processes that share the work: one process relays a shard at a time.
 */
export const SHARDS = 16;

/** A committed record of which Kafka has not confirmed yet that it is stored. */
export interface OutboxRow {
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
  return createHash("sha256").update(key).digest().readUInt32BE(0) % SHARDS;
}

/** Order in which rows are sent; an index supports it. */
export const SEND_ORDER = { key: 1, seq: 1, _id: 1 } as const;
