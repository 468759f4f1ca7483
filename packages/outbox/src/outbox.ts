import { context, propagation } from "@opentelemetry/api";
import { MAX_RECORD_BYTES, recordBytes } from "@vvs/kafka";
import { Binary, type ClientSession, type Db, ObjectId } from "mongodb";
import { migrateLeases } from "./leases.ts";
import { type OutboxRow, outboxRows, SEND_ORDER, shardOf } from "./rows.ts";

/** Room for the trace context that sending adds. */
const SEND_HEADERS_BYTES = 1_024;

/** Names a record to people, as among dead letters; consumers find the id in the message. */
const RECORD_ID_HEADER = "record-id";

/** A record to be published once the transaction is committed. */
export interface OutboxRecord {
  /** The record's own deterministic id. */
  readonly id: string;
  /** The full name. */
  readonly topic: string;
  /** Records of one key are published in the order of `seq`. */
  readonly key: string;
  /**
   * The record's place among those of its key, given by whoever serializes the key's transactions (a run_seq). It may
   * be left out where a key has one record only. Equal ones are published in the order of appending.
   */
  readonly seq?: number | bigint;
  /** The message in protobuf's binary form. */
  readonly value: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Outbox {
  /**
   * Stores records in the caller's transaction: they are published if and only if it commits. The active trace goes
   * with those that carry none yet. Errors: a record is too large for Kafka; or the transaction's own.
   */
  append(session: ClientSession, ...records: OutboxRecord[]): Promise<void>;
}

/**
 * The outbox of one database. A row's place is the caller's own number and neither a clock nor a counter of ours:
 * replicas' clocks differ, so ids made of time would swap two records of a key, and a counter in the transaction would
 * make every two transactions of a shard conflict. The owner of a key serializes its transactions already and numbers
 * them, and once a row is visible all lower ones of its key are visible too, or sent.
 */
export function createOutbox(options: { db: Db }): Outbox {
  const rows = outboxRows(options.db);
  return {
    async append(session, ...records) {
      if (records.length > 0) await rows.insertMany(records.map(toRow), { session });
    },
  };
}

/** The record with the active trace: for one that is appended later, among others'. */
export function withActiveTrace(record: OutboxRecord): OutboxRecord {
  const headers: Record<string, string> = { ...record.headers };
  propagation.inject(context.active(), headers);
  return { ...record, headers };
}

/** Creates the collections and indexes; may run again, and beside running relays. */
export async function migrateOutbox(db: Db): Promise<void> {
  const rows = outboxRows(db);
  await rows.createIndex({ shard: 1, ...SEND_ORDER });
  await migrateLeases(db);
}

function toRow(record: OutboxRecord): OutboxRow {
  const traced = record.headers?.traceparent ? record : withActiveTrace(record);
  const headers = { ...traced.headers, [RECORD_ID_HEADER]: record.id };
  if (recordBytes({ ...record, headers }) > MAX_RECORD_BYTES - SEND_HEADERS_BYTES) {
    throw new Error(`the record ${record.id} for ${record.topic} is too large for Kafka`);
  }
  return {
    _id: new ObjectId(),
    record_id: record.id,
    shard: shardOf(record.key),
    topic: record.topic,
    key: record.key,
    seq: Number(record.seq ?? 0),
    value: new Binary(record.value),
    headers,
  };
}
