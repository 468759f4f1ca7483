import { context, propagation } from "@opentelemetry/api";
import { MAX_RECORD_BYTES, recordBytes } from "@vvs/kafka";
import { Binary, type ClientSession, type Db, type ObjectId } from "mongodb";
import { migrateLeases } from "./leases.ts";
import { createOldestRowMs, type OutboxRow, outboxRows, SEND_ORDER, shardOf } from "./rows.ts";

/** Space reserved for the trace context that is added when a record is sent. */
const SEND_HEADERS_BYTES = 1_024;

/** Header with the record's id for people, such as in dead letters; consumers find the id in the message. */
const RECORD_ID_HEADER = "record-id";

/** A record to publish once its transaction is committed. */
export interface OutboxRecord {
  /** The record's own deterministic id. */
  readonly id: string;
  /** Full name of the topic. */
  readonly topic: string;
  /** Records of one key are published in the order of `seq`. */
  readonly key: string;
  /**
   * Position among the records of the key, such as a run_seq, set by the code that serializes the key's transactions.
   * It may be absent if the key has only one record. Records with equal positions are published in the order of
   * appending.
   */
  readonly seq?: number | bigint;
  /** The message in protobuf's binary form. */
  readonly value: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Id of its row, with the time of the database's clock; MongoDB assigns one where absent. With it the relay need not read the
   * record. Only for the single record of a key.
   */
  readonly rowId?: ObjectId;
}

export type Outbox = ReturnType<typeof createOutbox>;

/**
 * Creates the outbox of one database. The order of rows comes from the caller's own numbers. A clock would not do,
 * since replicas' clocks differ and could swap two records of a key; a counter in the transaction would make any two
 * transactions of a shard conflict. The owner of a key already serializes and numbers the key's transactions, so once a
 * row is visible, all lower rows of its key are visible too, or sent.
 */
export function createOutbox(options: { db: Db }) {
  const rows = outboxRows(options.db);
  return {
    /**
     * Stores records in the caller's transaction: they are published if and only if it commits. Records without trace
     * headers get the active trace. Errors: a record is too large for Kafka; the transaction's own.
     */
    async append(session: ClientSession, ...records: OutboxRecord[]): Promise<void> {
      if (records.length === 0) return;
      await rows.insertMany(records.map(toRow) as OutboxRow[], { session, forceServerObjectId: true });
    },

    /** Returns how long the oldest unpublished record has waited, in milliseconds by the database's clock; 0 if none waits. */
    oldestMs: createOldestRowMs(options.db),
  };
}

/** Returns the record with the active trace, for a record that is appended later together with other calls' records. */
export function withActiveTrace(record: OutboxRecord): OutboxRecord {
  const headers: Record<string, string> = { ...record.headers };
  propagation.inject(context.active(), headers);
  return { ...record, headers };
}

/** Creates the collections and indexes; may run again, and beside running relays. */
export async function migrateOutbox(db: Db): Promise<void> {
  const rows = outboxRows(db);
  await rows.createIndex({ shard: 1, ...SEND_ORDER });
  await migrateLeases(db, "outbox");
}

/** Returns a record's row. Errors: the record is too large for Kafka. */
export function toRow(record: OutboxRecord): Omit<OutboxRow, "_id"> & Partial<Pick<OutboxRow, "_id">> {
  const traced = record.headers?.traceparent ? record : withActiveTrace(record);
  const headers = { ...traced.headers, [RECORD_ID_HEADER]: record.id };
  if (recordBytes({ ...record, headers }) > MAX_RECORD_BYTES - SEND_HEADERS_BYTES) {
    throw new Error(`the record ${record.id} for ${record.topic} is too large for Kafka`);
  }
  return {
    ...(record.rowId && { _id: record.rowId }),
    record_id: record.id,
    shard: shardOf(record.key),
    topic: record.topic,
    key: record.key,
    seq: Number(record.seq ?? 0),
    value: new Binary(record.value),
    headers,
  };
}
