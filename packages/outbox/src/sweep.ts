import type { Producer, ProducerRecord } from "@vvs/kafka";
import type { Db } from "mongodb";
import { type OutboxRow, outboxRows, SEND_ORDER } from "./rows.ts";

const PAGE_ROWS = 500;

/** Sends everything there is once, key by key, so that no key starves behind a busy one. */
export interface Sweep {
  /** Errors: Kafka or the database is away; what was not deleted by then is sent again by the next run. */
  run(): Promise<void>;
  /** Resolves when the page being sent, if any, has arrived or failed. */
  settled(): Promise<void>;
}

export function createSweep(options: {
  db: Db;
  producer: Pick<Producer, "send">;
  /** The shards to send; asked before each page. */
  held: () => readonly number[];
  stopping: AbortSignal;
  onRelayed(count: number): void;
}): Sweep {
  const rows = outboxRows(options.db);
  let current: Promise<unknown> = Promise.resolve();

  /** Returns the key at which the next page starts, or undefined when this one was the last. */
  async function sendPage(from: string | undefined): Promise<string | undefined> {
    const filter = { shard: { $in: [...options.held()] }, ...(from !== undefined && { key: { $gte: from } }) };
    // One snapshot, so that no row is seen without the lower ones of its key; and majority-committed, so that no row is
    // published whose transaction could still be rolled back.
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
    async run() {
      let from: string | undefined;
      do {
        const page = sendPage(from);
        current = page.catch(() => undefined);
        from = await page;
      } while (from !== undefined && !options.stopping.aborted);
    },
    async settled() {
      await current;
    },
  };
}

function toRecord(row: OutboxRow): ProducerRecord {
  return { topic: row.topic, key: row.key, value: row.value.buffer, headers: row.headers };
}
