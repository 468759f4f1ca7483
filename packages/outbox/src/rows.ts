import { createHash } from "node:crypto";
import type { Binary, Collection, Db, ObjectId } from "mongodb";

/** Each shard is relayed by one process at a time; so many bound how many can share the work. */
export const SHARDS = 16;

/** A record that is committed and not known to be in Kafka. */
export interface OutboxRow {
  readonly _id: ObjectId;
  /** Of the record, for people; consumers find theirs in the record itself. */
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

/** A key's shard; part of the stored data, so it never changes. */
export function shardOf(key: string): number {
  return createHash("sha256").update(key).digest().readUInt32BE(0) % SHARDS;
}

/** The order in which rows are sent, and the index that gives it. */
export const SEND_ORDER = { key: 1, seq: 1, _id: 1 } as const;
