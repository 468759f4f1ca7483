import { setTimeout as wait } from "node:timers/promises";
import type { MongoClient } from "mongodb";

const EVERY_MS = 30_000;
/** Number of readings. The one with the shortest round trip counts, so that one slow answer does no harm. */
const READINGS = 3;
const TIMEOUT_MS = 5_000;

/** One reading of the database's clock, between two moments of this process's monotonic clock; all in milliseconds. */
export interface Reading {
  readonly askedAt: number;
  readonly serverAt: number;
  readonly answeredAt: number;
}

/**
 * Returns the database's clock, so that times that replicas write and compare do not depend on the clocks of their
 * machines. Its distance from this process's monotonic clock is measured now, and every 30 s until `stopping` is
 * aborted. The error is at most half a round trip. While the database is unavailable, the last measurement counts.
 * Errors: the database's.
 */
export async function databaseClock(options: {
  client: Pick<MongoClient, "db">;
  stopping: AbortSignal;
  everyMs?: number;
}): Promise<() => Date> {
  const { client, stopping, everyMs = EVERY_MS } = options;

  async function read(): Promise<Reading> {
    const askedAt = performance.now();
    const { localTime } = await client.db("admin").command({ hello: 1 }, { timeoutMS: TIMEOUT_MS });
    return { askedAt, serverAt: localTime.getTime(), answeredAt: performance.now() };
  }

  async function measure(): Promise<number> {
    const readings: Reading[] = [];
    while (readings.length < READINGS) readings.push(await read());
    return offsetOf(readings);
  }

  let offsetMs = await measure();
  async function follow(): Promise<void> {
    for (;;) {
      await wait(everyMs, undefined, { signal: stopping, ref: false }).catch(() => undefined);
      if (stopping.aborted) return;
      offsetMs = await measure().catch(() => offsetMs);
    }
  }

  void follow();
  return () => new Date(performance.now() + offsetMs);
}

/** Returns the milliseconds from the monotonic clock to the database's, by the reading with the shortest round trip. */
export function offsetOf(readings: readonly Reading[]): number {
  const [best] = readings.toSorted((a, b) => a.answeredAt - a.askedAt - (b.answeredAt - b.askedAt));
  return best!.serverAt - (best!.askedAt + best!.answeredAt) / 2;
}
