import type { Producer, ProducerRecord } from "@vvs/kafka";
import type { Db, ObjectId } from "mongodb";
import type { Leases } from "./leases.ts";
import { type OutboxRecord, toRow } from "./outbox.ts";
import { ensureEnds, idOfTime, LATELY_MS, type OutboxRow, outboxRows, READ_ALL_MS, SEND_ORDER } from "./rows.ts";

const PAGE_ROWS = 500;

/**
 * Sends waiting rows: those that this process has just committed, without reading them, or those it reads, key by key, so that a
 * busy key does not block the others.
 */
export function createSweep(options: {
  db: Db;
  producer: Pick<Producer, "send">;
  leases: Pick<Leases, "held" | "settling">;
  /** Maximum time between the beginnings of two rounds that read, while rounds follow each other. */
  pollMs: number;
  onRelayed(count: number): void;
}) {
  const { db } = options;
  const { held, settling } = options.leases;
  const rows = outboxRows(db);
  /** Rows that this process has committed since the last round; at most a page. */
  let committed: OutboxRow[] = [];
  let mustRead = true;
  let readAgainMs = 0;
  /** When all waiting rows were read last, by the database's clock and by this process's. */
  let readAll = { databaseMs: 0, atMs: Number.NEGATIVE_INFINITY };
  /** The last round that read: when it began, and the shards that it held throughout. Undefined after an error. */
  let lastRead: { shards: readonly number[]; atMs: number } | undefined;

  async function send(page: readonly OutboxRow[], order?: { anyOrder: boolean }): Promise<void> {
    await options.producer.send(page.map(toRecord), order);
    await rows.deleteMany({ _id: { $in: page.map(({ _id }) => _id) } });
    options.onRelayed(page.length);
  }

  /** Sends a page of the keys that have rows from this one on. Returns where the next page starts; undefined after the last one. */
  async function sendPage(from: ObjectId): Promise<ObjectId | undefined> {
    const found = await rows
      .find(
        { _id: { $gte: from }, shard: { $in: [...held()] } },
        { projection: { shard: 1, key: 1 }, hint: { _id: 1 } },
      )
      .sort({ _id: 1 })
      .limit(PAGE_ROWS)
      .toArray();
    if (found.length === 0) return undefined;
    const keysOf = [...Map.groupBy(found, ({ shard }) => shard)];
    const $or = keysOf.map(([shard, of]) => ({ shard, key: { $in: [...new Set(of.map(({ key }) => key))] } }));
    // One snapshot, so that no row is seen without the lower rows of its key. The snapshot is majority-committed, so
    // that no row is published whose transaction could still be rolled back.
    const page = await rows
      .find({ $or }, { readConcern: { level: "snapshot" } })
      .sort(SEND_ORDER)
      .limit(PAGE_ROWS)
      .toArray();
    if (page.length > 0) await send(page);
    if (page.length === PAGE_ROWS) return from;
    return found.length < PAGE_ROWS ? undefined : found.at(-1)!._id;
  }

  /** Returns the id from which a round reads: of all rows, or of those that may have been stored since the last round began. */
  async function firstToRead(shards: readonly number[], atMs: number): Promise<ObjectId> {
    const known = lastRead?.shards ?? [];
    if (lastRead && atMs < readAll.atMs + READ_ALL_MS && shards.every((each) => known.includes(each)))
      return idOfTime(readAll.databaseMs + (lastRead.atMs - readAll.atMs) - LATELY_MS);
    await ensureEnds(db);
    const { localTime } = await db.command({ hello: 1 });
    readAll = { databaseMs: (localTime as Date).getTime(), atMs };
    return idOfTime(0);
  }

  async function sendWaiting(): Promise<void> {
    const [shards, atMs] = [held(), performance.now()];
    readAgainMs = atMs + options.pollMs;
    let from: ObjectId | undefined = await firstToRead(shards, atMs);
    while (from !== undefined && held().length > 0) from = await settling(sendPage(from));
    lastRead = { shards: held().filter((each) => shards.includes(each)), atMs };
  }

  async function sendCommitted(own: readonly OutboxRow[]): Promise<void> {
    const shards = held();
    // Other relays send those of their shards.
    const page = own.filter(({ shard }) => shards.includes(shard));
    // Each is the single record of its key.
    if (page.length > 0) await settling(send(page, { anyOrder: true }));
  }

  return {
    /** Lets the next round read waiting rows. */
    read(): void {
      mustRead = true;
    },
    /** Adds a committed record to the next round. */
    add(record: OutboxRecord): void {
      const { _id, ...row } = toRow(record);
      if (_id && committed.length < PAGE_ROWS) committed.push({ _id, ...row });
      else mustRead = true;
    },
    /** Errors: Kafka or the database is unavailable; rows not deleted by then are sent again by the next run. */
    async run(): Promise<void> {
      const own = committed;
      const reads = mustRead || own.length === 0 || performance.now() >= readAgainMs;
      committed = [];
      mustRead = false;
      try {
        await (reads ? sendWaiting() : sendCommitted(own));
      } catch (error) {
        mustRead = true;
        lastRead = undefined;
        throw error;
      }
    },
  };
}

function toRecord(row: OutboxRow): ProducerRecord {
  return { topic: row.topic, key: row.key, value: row.value.buffer, headers: row.headers };
}
