import { randomBytes } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { allTopics, createKafka, PoisonRecordError, subscription } from "@vvs/kafka";
import { runOutboxRelay } from "@vvs/outbox";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import {
  type VerificationCompleted,
  VerificationCompletedSchema,
  type VerificationRequested,
  VerificationRequestedSchema,
} from "@vvs/proto/events/v1/events";
import { silentLogger as logger, untilEnd } from "@vvs/testing";
import { putVendor as putEntity, requestedRun } from "../testing/calls.ts";
import { startTestService } from "../testing/service.ts";

const { SAM_REGISTRATION, TIN_MATCH } = CheckType;
const topicPrefix = `t${randomBytes(5).toString("hex")}.`;
const uei = "SANDBXCHNGE1";

const completed: VerificationCompleted[] = [];

const service = await startTestService({ topicPrefix });
const record = { uei, legalName: "Sandbox Vendor", extractCode: "A", expirationDate: "2099-03-31" };
service.entities.setRegistry(Environment.SANDBOX, uei, { record });
const kafka = createKafka({ brokers: process.env.KAFKA_BROKERS!.split(","), clientId: "test", logger, topicPrefix });
const mine = ["requested", "completed"].map((name) => `${topicPrefix}sandbox.verification.${name}`);
const wanted = allTopics(topicPrefix, { partitions: 1 }).filter(({ topic }) =>
  mine.some((each) => topic.startsWith(each)),
);
await kafka.ensureTopics(wanted);
const producer = untilEnd(kafka.producer());
untilEnd(runOutboxRelay({ db: service.databases.sandbox, producer, owner: "test", logger, pollMs: 20 }));
const handle = service.runOf("sandbox");
const consumers = [
  kafka.runConsumer({
    groupId: "verification.sandbox",
    subscriptions: [subscription({ topic: mine[0]!, schema: VerificationRequestedSchema, handle })],
    concurrency: 8,
    logger,
  }),
  kafka.runConsumer({
    groupId: "observer",
    subscriptions: [
      subscription({
        topic: mine[1]!,
        schema: VerificationCompletedSchema,
        handle: async (message) => void completed.push(message),
      }),
    ],
    concurrency: 1,
    logger,
  }),
];
await Promise.all(consumers.map((consumer) => untilEnd(consumer).ready));

const requested = (organizationId: string, entityId: string, monitorId: string, runSeq: number) =>
  requestedRun(
    { organizationId, entityId },
    {
      ...{ monitorId, runSeq, environment: Environment.SANDBOX, checks: [SAM_REGISTRATION, TIN_MATCH] },
      requestedAt: timestampFromDate(new Date()),
    },
  );

async function send(...records: VerificationRequested[]): Promise<void> {
  const topic = kafka.topicFor("sandbox", "verification.requested");
  await producer.send(
    records.map((record) => ({
      topic,
      key: record.run!.monitorId,
      value: toBinary(VerificationRequestedSchema, record),
    })),
  );
}

/** Waits for this number of completed records of a monitor, and returns them. */
async function completedOf(monitorId: string, count: number): Promise<VerificationCompleted[]> {
  for (;;) {
    const mine = completed.filter((message) => message.run?.monitorId === monitorId);
    if (mine.length >= count) return mine;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const putVendor = (organizationId: string) => putEntity(service, { organizationId, uei }).entityId;

describe("a monitor's runs", () => {
  test("each makes one verification however often its record is delivered, and publishes its facts in order", async () => {
    const [org, monitorId] = [newId("org"), newId("mon")];
    const entityId = putVendor(org);
    const [first, second, third] = [1, 2, 3].map((runSeq) => requested(org, entityId, monitorId, runSeq));
    await send(first!, first!, second!, first!, second!, third!);
    const messages = await completedOf(monitorId, 3);
    expect(messages.map(({ run, checks }) => [Number(run!.runSeq), checks[0]!.facts.registration_status])).toEqual([
      [1, "active"],
      [2, "expired"],
      [3, "active"],
    ]);
    expect(messages[0]!.checks[1]).toMatchObject({ status: CheckStatus.ERROR, reason: "missing_tin", facts: {} });
    expect(messages[0]!.checks[0]!.inputsFingerprint).toEqual(messages[1]!.checks[0]!.inputsFingerprint);
    expect(messages[0]!.overallResult).toBe(CheckStatus.ERROR);
    const stored = await service.databases.sandbox.collection("verifications").find({ organization_id: org }).toArray();
    expect(stored.map(({ _id }) => _id).sort()).toEqual(messages.map(({ verificationId }) => verificationId).sort());
    expect(stored.map(({ actor }) => actor)).toEqual([monitorId, monitorId, monitorId]);
  });

  test("report the organization's own number of the entity, as it is when each of them reads the entity", async () => {
    const [org, monitorId, entityId] = [newId("org"), newId("mon"), newId("ent")];
    for (const [index, externalId] of ["E-1", "", "E-2"].entries()) {
      service.entities.put(org, entityId, { subject: { legalName: "Vendor", uei, externalId } });
      await send(requested(org, entityId, monitorId, index + 1));
      await completedOf(monitorId, index + 1);
    }
    const messages = await completedOf(monitorId, 3);
    expect(messages.map(({ externalId }) => externalId)).toEqual(["E-1", "", "E-2"]);
  });

  test("two workers with the same record make one verification", async () => {
    const [org, monitorId] = [newId("org"), newId("mon")];
    const record = requested(org, putVendor(org), monitorId, 1);
    const run = service.runOf("sandbox");
    await Promise.all([run(record), run(record), run(record)]);
    expect(await service.databases.sandbox.collection("verifications").countDocuments({ organization_id: org })).toBe(
      1,
    );
    await completedOf(monitorId, 1);
    expect(await service.databases.sandbox.collection("evidence").countDocuments({ organization_id: org })).toBe(2);
  });

  test("an entity that is gone ends the run with errors", async () => {
    const [org, monitorId] = [newId("org"), newId("mon")];
    await send(requested(org, newId("ent"), monitorId, 1));
    const [message] = await completedOf(monitorId, 1);
    expect(message!.overallResult).toBe(CheckStatus.ERROR);
    expect(message!.checks.map(({ reason }) => reason)).toEqual(["entity_not_found", "entity_not_found"]);
  });

  test("a check that only a newer version knows is skipped, and the others run", async () => {
    const [org, monitorId] = [newId("org"), newId("mon")];
    const record = requested(org, putVendor(org), monitorId, 1);
    record.checks = [99 as CheckType, SAM_REGISTRATION];
    await send(record);
    const [message] = await completedOf(monitorId, 1);
    expect(message!.checks.map(({ checkType }) => checkType)).toEqual([SAM_REGISTRATION]);
  });

  test.each([
    ["of the other environment", { tenant: { organizationId: "org_1", environment: Environment.LIVE } }],
    ["without a tenant", { tenant: undefined }],
    ["without checks", { checks: [] }],
    ["without a run", { run: undefined }],
    ["with a run numbered 0", { run: { monitorId: "mon_1", runSeq: 0n } }],
    ["without a check that this version knows", { checks: [99] }],
  ])("a record %s can never be processed", async (_name, wrong) => {
    const record = requested(newId("org"), newId("ent"), newId("mon"), 1);
    const { $typeName: _, ...init } = { ...record, ...wrong };
    await expect(service.runOf("sandbox")(create(VerificationRequestedSchema, init as never))).rejects.toThrow(
      PoisonRecordError,
    );
  });

  test("a run waits for an entity service that is unavailable", async () => {
    const [org, monitorId] = [newId("org"), newId("mon")];
    const record = requested(org, putVendor(org), monitorId, 1);
    await service.entities.server.close();
    await expect(service.runOf("sandbox")(record)).rejects.toMatchObject({ code: "service_unavailable" });
    expect(await service.databases.sandbox.collection("verifications").countDocuments({ organization_id: org })).toBe(
      0,
    );
  });
});
