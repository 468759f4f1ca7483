import { fromBinary } from "@bufbuild/protobuf";
import { connectMongo, environmentDatabases } from "@vvs/mongo";
import { type ChangeDetected, ChangeDetectedSchema, type VerificationCompleted } from "@vvs/proto/events/v1/events";
import { atEnd, silentLogger as logger } from "@vvs/testing";
import type { Binary, MongoClient } from "mongodb";
import { migrate } from "../../services/change-detector/src/migrate.ts";
import { createHandleCompleted } from "../../services/change-detector/src/records.ts";

const TOPIC = "live.monitor.change_detected";

/** What the change detector reported of one run. */
export interface Report {
  readonly runSeq: number;
  readonly changes: ChangeDetected["changes"];
}

export interface TestChangeDetector {
  /** Its client of MongoDB. */
  readonly client: MongoClient;
  /** Handles a completed verification. */
  detect(record: VerificationCompleted): Promise<void>;
  /** Returns what was reported of a monitor's runs, oldest first. */
  reportsOf(monitorId: string): Promise<Report[]>;
}

/** Starts the live change detector on databases of its own, until the tests of the file are over. */
export async function startChangeDetector(options: {
  uri?: string;
  prefix: string;
  now: () => Date;
}): Promise<TestChangeDetector> {
  const { uri = process.env.MONGODB_URI!, prefix, now } = options;
  const stopping = new AbortController().signal;
  const client = await connectMongo({ uri, service: "test", logger, stopping });
  await migrate({ client, prefix });
  const { live: db, sandbox } = environmentDatabases(client, prefix, "change-detector");
  atEnd(async () => {
    await Promise.all([db.dropDatabase(), sandbox.dropDatabase()]);
    await client.close();
  });
  const outbox = db.collection<{ topic: string; key: string; seq: number; value: Binary }>("outbox");
  return {
    client,
    detect: createHandleCompleted({
      environment: "live",
      client,
      db,
      topic: TOPIC,
      nudge: () => undefined,
      now,
      logger,
    }),
    async reportsOf(monitorId) {
      const rows = await outbox.find({ topic: TOPIC, key: monitorId }).sort({ seq: 1 }).toArray();
      return rows.map(({ seq, value }) => ({
        runSeq: seq,
        changes: fromBinary(ChangeDetectedSchema, value.buffer).changes,
      }));
    },
  };
}
