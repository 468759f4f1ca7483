// For this package's tests: a database of their own on a real replica set.
import { randomBytes } from "node:crypto";
import { createLogger, type Logger } from "@vvs/logging";
import type { Db, MongoClient } from "mongodb";
import { connectMongo } from "./client.ts";

export interface TestMongo {
  readonly client: MongoClient;
  readonly db: Db;
  /** Drops the database. */
  close(): Promise<void>;
}

export async function testMongo(uri: string): Promise<TestMongo> {
  const logger = createLogger({ service: "test", level: "silent" });
  const client = await connectMongo({ uri, service: "test", logger, stopping: new AbortController().signal });
  const db = client.db(`test_${randomBytes(6).toString("hex")}`);
  return {
    client,
    db,
    async close() {
      await db.dropDatabase();
      await client.close();
    },
  };
}

export type LogLine = Readonly<Record<string, unknown>>;

/** A logger that keeps its lines. */
export function captureLogs(): { logger: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) };
  return { logger: createLogger({ service: "test", level: "debug", destination }), lines };
}

/** Waits until the condition holds. Errors: it does not within 20 s. */
export async function eventually(condition: () => boolean): Promise<void> {
  const end = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error("what the test waits for did not come");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
