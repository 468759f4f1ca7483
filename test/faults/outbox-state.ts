import { fromBinary } from "@bufbuild/protobuf";
import { VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import { eventually } from "@vvs/testing";
import { MongoClient } from "mongodb";
import { recordsOf } from "../support/topic-records.ts";
import type { VerificationStack } from "../support/verification-stack.ts";

/** Verifications stored in the sandbox, and those published to Kafka. */
export interface Outcome {
  /** Ids of the stored verifications, sorted. */
  readonly stored: readonly string[];
  /** Ids in the records of runs and of direct calls, including duplicates. */
  readonly published: readonly string[];
}

/** Returns the number of records waiting to be published in the sandbox of one service. */
export async function unsent({ environment }: VerificationStack, service: string): Promise<number> {
  return withDatabase(environment, service, (db) => db.collection("outbox").countDocuments({ key: { $exists: true } }));
}

/** Waits until nothing is left to publish, and returns what was stored and published. */
export async function outcome(stack: VerificationStack): Promise<Outcome> {
  await eventually(async () => (await unsent(stack, "verification")) === 0, {
    timeoutMs: 60_000,
  });
  const { environment } = stack;
  const stored = await withDatabase(environment, "verification", (db) =>
    db.collection<{ _id: string }>("verifications").distinct("_id"),
  );
  const brokers = environment.KAFKA_BROKERS!.split(",");
  const topics = ["verification.completed", "verification.completed.direct"];
  const read = topics.map((name) => recordsOf({ brokers, topic: `${environment.KAFKA_TOPIC_PREFIX}sandbox.${name}` }));
  const records = (await Promise.all(read)).flat();
  const published = records.map(({ value }) => fromBinary(VerificationCompletedSchema, value).verificationId);
  return { stored: stored.toSorted(), published };
}

async function withDatabase<T>(
  environment: VerificationStack["environment"],
  service: string,
  work: (db: ReturnType<MongoClient["db"]>) => Promise<T>,
): Promise<T> {
  const client = new MongoClient(environment.MONGODB_URI!);
  try {
    return await work(client.db(`${environment.MONGODB_DATABASE_PREFIX}${service}_sandbox`));
  } finally {
    await client.close();
  }
}
