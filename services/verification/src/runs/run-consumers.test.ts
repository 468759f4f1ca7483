import { randomBytes } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { allTopics, createKafka, deadLetterTopic } from "@vvs/kafka";
import { CheckType } from "@vvs/proto/common/v1/common";
import { type VerificationRequested, VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import { atEnd, eventually, silentLogger as logger, untilEnd } from "@vvs/testing";
import { recordsOf } from "../../../../test/support/topic-records.ts";
import { passing, putVendor, requestedRun, testProvider } from "../testing/calls.ts";
import { startTestService } from "../testing/service.ts";
import { startRunConsumers } from "./run-consumers.ts";

const { SAM_REGISTRATION, TIN_MATCH } = CheckType;
const TIN_TOPIC = "verification.requested.tin_match";
const SLOTS = { runs: 2, tinRuns: 3 };
/** More than a consumer holds of a partition, and each topic has one. */
const TIN_RUNS = 250;

const brokers = process.env.KAFKA_BROKERS!.split(",");
const topicPrefix = `t${randomBytes(5).toString("hex")}.`;
const organizationId = newId("org");
const entityId = newId("ent");

/** Resolves when the TIN provider begins to answer. */
const answers = Promise.withResolvers<void>();
let asked = 0;
const providers = [
  testProvider("registry"),
  testProvider("tin_vendor", "tin_match", async () => {
    asked++;
    await answers.promise;
    return passing();
  }),
];

const minutes = { callMs: 600_000, checkMs: 600_000, attemptMs: 600_000 };
const service = await startTestService({
  live: providers,
  topicPrefix,
  limits: minutes,
});
putVendor(service, { organizationId, entityId, tinHash: Buffer.from("hash"), tin: "123456789" });
const kafka = createKafka({ brokers, clientId: "test", logger, topicPrefix });
const requested = allTopics(topicPrefix, { partitions: 1 }).filter(({ topic }) =>
  topic.startsWith(`${topicPrefix}live.verification.requested`),
);
await kafka.ensureTopics(requested);
const producer = untilEnd(kafka.producer());
const handle = service.runOf("live");
const consumers = startRunConsumers({ kafka, environment: "live", handle, slots: SLOTS, logger });
await Promise.all(consumers.map((consumer) => untilEnd(consumer).ready));
atEnd(answers.resolve);

const requestOf = (checks: CheckType[]) => requestedRun({ organizationId, entityId }, { checks });

async function send(name: "verification.requested" | typeof TIN_TOPIC, records: readonly VerificationRequested[]) {
  const topic = kafka.topicFor("live", name);
  const encode = (record: VerificationRequested) => toBinary(VerificationRequestedSchema, record);
  await producer.send(records.map((record) => ({ topic, key: record.run!.monitorId, value: encode(record) })));
}

/** Waits until the verification of each run is stored. */
async function verified(records: readonly VerificationRequested[]): Promise<void> {
  const ids = records.map(({ recordId }) => recordId);
  const stored = service.databases.live.collection("verifications");
  await eventually(async () => (await stored.countDocuments({ run_record_id: { $in: ids } })) === ids.length);
}

test("a TIN provider that never answers delays no run without tin_match, and loses no run with it", async () => {
  const tinRuns = Array.from({ length: TIN_RUNS }, (_, index) =>
    requestOf(index % 2 === 0 ? [TIN_MATCH] : [SAM_REGISTRATION, TIN_MATCH]),
  );
  await send(TIN_TOPIC, tinRuns);
  await eventually(() => asked === SLOTS.tinRuns);

  const samRuns = Array.from({ length: 2 * SLOTS.runs }, () => requestOf([SAM_REGISTRATION]));
  await send("verification.requested", samRuns);
  await verified(samRuns);
  expect(asked).toBe(SLOTS.tinRuns);

  answers.resolve();
  await verified(tinRuns);
});

test("a run that was put aside from the topic of runs with tin_match can be put back", async () => {
  const topic = kafka.topicFor("live", TIN_TOPIC);
  const letters = () => recordsOf({ brokers, topic: deadLetterTopic(topic) });
  const unknown = requestOf([99 as CheckType]);
  await send(TIN_TOPIC, [unknown]);
  await eventually(async () => (await letters()).length === 1);
  expect(await kafka.redrive(topic)).toBe(1);
  await eventually(async () => (await letters()).length === 2);
  expect((await letters()).map(({ key }) => key)).toEqual([unknown.run!.monitorId, unknown.run!.monitorId]);
});
