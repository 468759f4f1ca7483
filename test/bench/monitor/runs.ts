import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { newId } from "@vvs/ids";
import { createKafka, topicFor, topicNames } from "@vvs/kafka";
import { createLogger } from "@vvs/logging";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import { VerificationCompletedSchema, VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import kafkajs from "kafkajs";

/** The vendor of a run. */
export interface Vendor {
  readonly organizationId: string;
  readonly entityId: string;
}

export interface RequestedRuns {
  /** Resolves when Kafka has the requests. */
  readonly sent: Promise<unknown>;
  /** Each resolves when the record of the run's verification was read from Kafka. Errors: the verification did not pass. */
  readonly ends: readonly Promise<void>[];
}

/** Requests runs like the monitor service, and waits for their verifications. */
export interface Runs {
  /** Requests the first run of a new monitor for each vendor. */
  request(check: CheckType, vendors: readonly Vendor[]): RequestedRuns;
  close(): Promise<void>;
}

/** Connects to the live topics with a prefix. Resolves once completed runs are being read. */
export async function openRuns({ brokers, prefix }: { brokers: string[]; prefix: string }): Promise<Runs> {
  const logger = createLogger({ service: "bench", level: "warn" });
  const producer = createKafka({ brokers, clientId: "bench", topicPrefix: prefix, logger }).producer();
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const close = await readCompleted({ brokers, prefix }, (monitorId, hasPassed) => {
    if (hasPassed) ends.get(monitorId)?.resolve();
    else ends.get(monitorId)?.reject(new Error("a run did not pass"));
    ends.delete(monitorId);
  });
  return {
    request(check, vendors) {
      const name =
        check === CheckType.TIN_MATCH ? topicNames.verificationRequestedTin : topicNames.verificationRequested;
      const topic = topicFor({ prefix, environment: "live", topic: name });
      const requests = vendors.map((vendor) => ({ key: newId("mon"), vendor, end: Promise.withResolvers<void>() }));
      for (const { key, end } of requests) ends.set(key, end);
      const records = requests.map(({ key, vendor }) => ({ topic, key, value: encode(key, vendor, check) }));
      const sent = producer.send(records);
      return { sent, ends: requests.map(({ end }) => sent.then(() => end.promise)) };
    },
    async close() {
      await producer.close();
      await close();
    },
  };
}

function encode(monitorId: string, { organizationId, entityId }: Vendor, check: CheckType): Uint8Array {
  const message = create(VerificationRequestedSchema, {
    recordId: `${monitorId}:1`,
    tenant: { organizationId, environment: Environment.LIVE },
    run: { monitorId, runSeq: 1n },
    entityId,
    checks: [check],
    requestedAt: timestampNow(),
  });
  return toBinary(VerificationRequestedSchema, message);
}

/** Calls `onEnd` for each completed run from now on. Returns a function that ends it. */
async function readCompleted(
  { brokers, prefix }: { brokers: string[]; prefix: string },
  onEnd: (monitorId: string, hasPassed: boolean) => void,
): Promise<() => Promise<void>> {
  const kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: `${prefix}bench`, maxWaitTimeInMs: 10 });
  await consumer.connect();
  await consumer.subscribe({ topic: topicFor({ prefix, environment: "live", topic: "verification.completed" }) });
  const joined = new Promise<void>((resolve) => {
    consumer.on(consumer.events.FETCH_START, () => resolve());
  });
  await consumer.run({
    autoCommit: false,
    eachBatch: async ({ batch }) => {
      for (const { value } of batch.messages) {
        const { run, overallResult } = fromBinary(VerificationCompletedSchema, value!);
        if (run) onEnd(run.monitorId, overallResult === CheckStatus.PASS);
      }
    },
  });
  await joined;
  return () => consumer.disconnect();
}
