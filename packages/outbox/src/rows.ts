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

/**
 * How far most reads go back before the beginning of the last read, in milliseconds. MongoDB keeps deleted rows in its indexes for
 * five minutes and reads past them, so reading all rows takes longer the more were sent.
 */
export const LATELY_MS = 5_000;
/**
 * How often all waiting rows are read, in milliseconds. Until then, a row can wait that another process stored in a longer
 * transaction, or with the time of a clock further behind. More often would delay the other records: each reading takes longer
 * the more was sent in the last five minutes.
 */
export const READ_ALL_MS = 30_000;

/** Ids from here on are behind those of all rows. MongoDB takes higher ones for times before 1970, so that they would seem old. */
export const END_ID = new ObjectId(`7${"f".repeat(21)}00`);

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

/** Returns the lowest id of rows stored at a time, in milliseconds by the database's clock. */
export function idOfTime(ms: number): ObjectId {
  return ObjectId.createFromTime(Math.max(0, Math.floor(ms / 1_000)));
}

/**
 * Creates a function that returns the age of the oldest row in milliseconds, by the database's clock and to the second; 0 if there is
 * none.
 */
export function createOldestRowMs(db: Db): () => Promise<number> {
  let from = idOfTime(0);
  let readAllAtMs = 0;
  return async () => {
    if (performance.now() >= readAllAtMs) {
      readAllAtMs = performance.now() + READ_ALL_MS;
      from = idOfTime(0);
    }
    const oldest = outboxRows(db).aggregate<{ _id: ObjectId; now: Date }>([
      { $match: { _id: { $gte: from } } },
      { $sort: { _id: 1 } },
      { $limit: 1 },
      { $project: { now: "$$NOW" } },
    ]);
    const first = await oldest.next();
    if (!first) return 0;
    const now = first.now.getTime();
    const storedAt = first._id.toHexString() < END_ID.toHexString() ? first._id.getTimestamp().getTime() : now;
    from = idOfTime(storedAt - LATELY_MS);
    return Math.max(0, now - storedAt);
  };
}
