import type { Producer, ProducerRecord } from "@vvs/kafka";
import type { Db } from "mongodb";
import type { Leases } from "./leases.ts";
import { type OutboxRecord, toRow } from "./outbox.ts";
import { type OutboxRow, outboxRows, SEND_ORDER } from "./rows.ts";

const PAGE_ROWS = 500;

/**
 * Sends waiting rows: those that this process has just committed, without reading them, or all, key by key, so that a busy key
 * does not block the others.
 */
export function createSweep(options: {
  db: Db;
  producer: Pick<Producer, "send">;
  leases: Pick<Leases, "held" | "settling">;
  /** Maximum time between the beginnings of two rounds that read all waiting rows, while rounds follow each other. */
  pollMs: number;
  onRelayed(count: number): void;
}) {
  const { held, settling } = options.leases;
  const rows = outboxRows(options.db);
  /** Rows that this process has committed since the last round; at most a page. */
  let committed: OutboxRow[] = [];
  let mustReadAll = true;
  let readAgainMs = 0;

  async function send(page: readonly OutboxRow[]): Promise<void> {
    await options.producer.send(page.map(toRecord));
    await rows.deleteMany({ _id: { $in: page.map(({ _id }) => _id) } });
    options.onRelayed(page.length);
  }

  /** Returns the key at which the next page starts, or undefined when this one was the last. */
  async function sendPage(from: string | undefined): Promise<string | undefined> {
    const filter = { shard: { $in: [...held()] }, ...(from !== undefined && { key: { $gte: from } }) };
    // One snapshot, so that no row is seen without the lower rows of its key. The snapshot is majority-committed, so
    // that no row is published whose transaction could still be rolled back.
    const page = await rows
      .find(filter, { readConcern: { level: "snapshot" } })
      .sort(SEND_ORDER)
      .limit(PAGE_ROWS)
      .toArray();
    if (page.length === 0) return undefined;
    await send(page);
    return page.length < PAGE_ROWS ? undefined : page.at(-1)!.key;
  }

  async function sendAll(): Promise<void> {
    readAgainMs = performance.now() + options.pollMs;
    let from: string | undefined;
    do {
      from = await settling(sendPage(from));
    } while (from !== undefined && held().length > 0);
  }

  async function sendCommitted(own: readonly OutboxRow[]): Promise<void> {
    const shards = held();
    // Other relays send those of their shards.
    const page = own.filter(({ shard }) => shards.includes(shard));
    if (page.length > 0) await settling(send(page));
  }

  return {
    /** Lets the next round read all waiting rows. */
    readAll(): void {
      mustReadAll = true;
    },
    /** Adds a committed record to the next round. */
    add(record: OutboxRecord): void {
      const { _id, ...row } = toRow(record);
      if (_id && committed.length < PAGE_ROWS) committed.push({ _id, ...row });
      else mustReadAll = true;
    },
    /** Errors: Kafka or the database is unavailable; rows not deleted by then are sent again by the next run. */
    async run(): Promise<void> {
      const own = committed;
      const readsAll = mustReadAll || own.length === 0 || performance.now() >= readAgainMs;
      committed = [];
      mustReadAll = false;
      try {
        await (readsAll ? sendAll() : sendCommitted(own));
      } catch (error) {
        mustReadAll = true;
        throw error;
      }
    },
  };
}

function toRecord(row: OutboxRow): ProducerRecord {
  return { topic: row.topic, key: row.key, value: row.value.buffer, headers: row.headers };
}
