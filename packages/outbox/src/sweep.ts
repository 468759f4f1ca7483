import type { Producer, ProducerRecord } from "@vvs/kafka";
import type { Db } from "mongodb";
import { type OutboxRow, outboxRows, SEND_ORDER } from "./rows.ts";

const PAGE_ROWS = 500;

/** Sends all waiting rows once, key by key, so that a busy key does not block the others. */
export function createSweep(options: {
  db: Db;
  producer: Pick<Producer, "send">;
  /** Returns the shards to send; called before each page. */
  held: () => readonly number[];
  stopping: AbortSignal;
  onRelayed(count: number): void;
}) {
  const rows = outboxRows(options.db);
  let current: Promise<unknown> = Promise.resolve();

  /** Returns the key at which the next page starts, or undefined when this one was the last. */
  async function sendPage(from: string | undefined): Promise<string | undefined> {
    const filter = { shard: { $in: [...options.held()] }, ...(from !== undefined && { key: { $gte: from } }) };
    // One snapshot, so that no row is seen without the lower rows of its key. The snapshot is majority-committed, so
    // that no row is published whose transaction could still be rolled back.
    const page = await rows
      .find(filter, { readConcern: { level: "snapshot" } })
      .sort(SEND_ORDER)
      .limit(PAGE_ROWS)
      .toArray();
    if (page.length === 0) return undefined;
    await options.producer.send(page.map(toRecord));
    await rows.deleteMany({ _id: { $in: page.map(({ _id }) => _id) } });
    options.onRelayed(page.length);
    return page.length < PAGE_ROWS ? undefined : page.at(-1)!.key;
  }

  return {
    /** Errors: Kafka or the database is unavailable; rows not deleted by then are sent again by the next run. */
    async run(): Promise<void> {
      let from: string | undefined;
      do {
        const page = sendPage(from);
        current = page.catch(() => undefined);
        from = await page;
      } while (from !== undefined && !options.stopping.aborted);
    },
    /** Resolves when the page being sent, if any, has arrived or failed. */
    async settled(): Promise<void> {
      await current;
    },
  };
}

function toRecord(row: OutboxRow): ProducerRecord {
  return { topic: row.topic, key: row.key, value: row.value.buffer, headers: row.headers };
}
