import { create, type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { allTopics, createKafka, type RecordContext, subscription, topicNames } from "@vvs/kafka";
import { createLogger } from "@vvs/logging";
import { connectMongo } from "@vvs/mongo";
import { OrganizationStatusService } from "@vvs/proto/account/v1/organization_status";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import {
  RegistryChangedSchema,
  VerificationCompletedSchema,
  type VerificationRequested,
  VerificationRequestedSchema,
  type WebhookRequested,
  WebhookRequestedSchema,
} from "@vvs/proto/events/v1/events";
import { Frequency, MonitorService, RunCause } from "@vvs/proto/monitor/v1/monitor";
import { type Client, createClient, type Handlers, onlyFor, type ServicePart, serveRpc } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import { eventually } from "@vvs/testing";
import type { MongoClient } from "mongodb";
import { migrate as migrateChangeDetector } from "../../change-detector/src/migrate.ts";
import { migrate } from "./migrate.ts";
import { newPrefix, someCaller } from "./testing/domain.ts";
import { type ServiceProcess, startService } from "./testing/service-process.ts";

const prefix = newPrefix();
const logger = createLogger({ service: "chain", level: "silent" });
const unknownEntity = newId("ent");
const closers: (() => unknown)[] = [];
const services = new Map<string, ServiceProcess>();
const requests: { record: VerificationRequested; context: RecordContext }[] = [];
const webhooks: { record: WebhookRequested; context: RecordContext }[] = [];
let mongo: MongoClient;
let gateway: Client<typeof MonitorService>;

beforeAll(async () => {
  const stopping = new AbortController().signal;
  mongo = await connectMongo({ uri: process.env.MONGODB_URI!, service: "chain", logger, stopping });
  closers.push(dropDatabases);
  await Promise.all([migrate({ client: mongo, prefix }), migrateChangeDetector({ client: mongo, prefix })]);
  const kafka = kafkaOfTest();
  await kafka.ensureTopics(allTopics(prefix, { partitions: 2 }));
  const [entity, account] = [await serveEntities(), await serveAccount()];
  const variables = {
    MONGODB_URI: process.env.MONGODB_URI!,
    MONGODB_DATABASE_PREFIX: prefix,
    KAFKA_BROKERS: process.env.KAFKA_BROKERS!,
    KAFKA_TOPIC_PREFIX: prefix,
  };
  const addresses = {
    ENTITY_ADDRESS: `127.0.0.1:${entity.port}`,
    ACCOUNT_ADDRESS: `127.0.0.1:${account.port}`,
  };
  const own = { RPC_PORT: "0", ...addresses, SANDBOX_HOURLY_MS: "300" };
  await Promise.all([start("change-detector", variables), start("monitor", { ...variables, ...own })]);
  const address = `127.0.0.1:${services.get("monitor")!.port}`;
  gateway = createClient(MonitorService, { address, caller: "gateway", tls: undefined });
  closers.push(() => gateway.close());
  await fakeVerification(kafka);
  await collect(kafka, "webhook.requested", WebhookRequestedSchema, (record, context) => {
    webhooks.push({ record, context });
  });
});

afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

const kafkaOfTest = () =>
  createKafka({ brokers: process.env.KAFKA_BROKERS!.split(","), clientId: "chain", logger, topicPrefix: prefix });

async function start(name: string, variables: Record<string, string>): Promise<void> {
  const service = await startService(name, variables);
  services.set(name, service);
  closers.push(() => service.stop());
}

async function dropDatabases(): Promise<void> {
  const { databases } = await mongo.db("admin").admin().listDatabases({ nameOnly: true });
  for (const { name } of databases) if (name.startsWith(prefix)) await mongo.db(name).dropDatabase();
  await mongo.close();
}

/** Serves an entity service in which every entity exists except one. */
async function serveEntities() {
  const names = Object.keys(EntityService.method);
  const refuse = () => Promise.reject(new ServiceError("internal_error"));
  const handlers = {
    ...Object.fromEntries(names.map((name) => [name, refuse])),
    async getEntity({ entityId }: { entityId: string }) {
      if (entityId === unknownEntity) throw new ServiceError("entity_not_found");
      return { entity: { id: entityId } };
    },
  } as unknown as Handlers<typeof EntityService>;
  const callers = onlyFor(EntityService, "monitor");
  const host = "127.0.0.1";
  const server = await serveRpc({ service: EntityService, handlers, callers, host, port: 0, tls: undefined, logger });
  closers.push(() => server.close());
  return server;
}

/** Serves an account in which no organization is suspended. */
async function serveAccount() {
  const handlers = { listSuspended: async () => ({ organizationIds: [] }) };
  const callers = { listSuspended: ["monitor"] };
  const part = { service: OrganizationStatusService, handlers, callers } as unknown as ServicePart;
  const server = await serveRpc({ ...part, host: "127.0.0.1", port: 0, tls: undefined, logger });
  closers.push(() => server.close());
  return server;
}

async function collect<Desc extends DescMessage>(
  kafka: ReturnType<typeof kafkaOfTest>,
  topic: (typeof topicNames)[keyof typeof topicNames],
  schema: Desc,
  take: (record: MessageShape<Desc>, context: RecordContext) => Promise<void> | void,
): Promise<void> {
  const consumer = kafka.runConsumer({
    groupId: `test.${topic}`,
    subscriptions: [
      subscription({
        topic: kafka.topicFor("sandbox", topic),
        schema,
        handle: async (record, context) => take(record, context),
      }),
    ],
    concurrency: 4,
    logger,
  });
  closers.push(() => consumer.stop());
  await consumer.ready;
}

/** Answers each run twice, odd runs with active and even runs with expired. */
async function fakeVerification(kafka: ReturnType<typeof kafkaOfTest>): Promise<void> {
  const producer = kafka.producer();
  closers.push(() => producer.close());
  const topic = kafka.topicFor("sandbox", topicNames.verificationCompleted);
  await collect(kafka, "verification.requested", VerificationRequestedSchema, async (record, context) => {
    requests.push({ record, context });
    const value = toBinary(VerificationCompletedSchema, completed(record));
    const answer = { topic, key: context.key, value, headers: { traceparent: context.headers.traceparent! } };
    await producer.send([answer, answer]);
  });
}

function completed({ tenant, entityId, run }: VerificationRequested) {
  const active = run!.runSeq % 2n === 1n;
  const overallResult = active ? CheckStatus.PASS : CheckStatus.FAIL;
  return create(VerificationCompletedSchema, {
    verificationId: newId("ver"),
    tenant,
    entityId,
    run,
    checks: [
      {
        checkType: CheckType.SAM_REGISTRATION,
        status: overallResult,
        inputsFingerprint: Buffer.from("uei"),
        facts: { registration_status: active ? "active" : "expired" },
      },
    ],
    overallResult,
    createdAt: timestampFromDate(new Date()),
  });
}

const traceOf = ({ context }: { context: RecordContext }) => context.headers.traceparent?.split("-")[1];

test("a record of a file that changed a vendor starts one run of its monitor, also if it comes twice", async () => {
  const caller = toProtoCaller(someCaller());
  const entityId = newId("ent");
  const checks = [CheckType.SAM_REGISTRATION];
  // Its next run by the schedule comes in a minute.
  const wanted = { caller, entityId, checks, frequency: Frequency.MONTHLY, activeLimit: 1 };
  const { monitor } = await gateway.createMonitor(wanted);
  const lastRun = async () => (await gateway.getMonitor({ caller, monitorId: monitor!.id })).monitor?.lastRun;
  const first = await eventually(lastRun);
  const kafka = kafkaOfTest();
  const producer = kafka.producer();
  closers.push(() => producer.close());
  const changed = create(RegistryChangedSchema, {
    ...{ recordId: "record", loadId: "registry:1", entityIds: [entityId], urgentEntityIds: [entityId] },
    changedAt: timestampFromDate(new Date()),
  });
  const value = toBinary(RegistryChangedSchema, changed);
  const record = { topic: kafka.topicFor("sandbox", topicNames.registryChanged), key: changed.loadId, value };
  await producer.send([record, record]);
  await eventually(async () => (await lastRun())?.verificationId !== first.verificationId);
  const runs = requests.filter((request) => request.record.run?.monitorId === monitor!.id);
  expect(runs.map((request) => Number(request.record.run!.runSeq))).toEqual([1, 2]);
  const { monitor: after } = await gateway.getMonitor({ caller, monitorId: monitor!.id });
  expect(after!.nextRunAt).toEqual(monitor!.nextRunAt);
  const listed = await gateway.listRuns({ caller, monitorId: monitor!.id, page: { limit: 10 } });
  expect(listed.runs.map(({ cause }) => cause)).toEqual([RunCause.FILE, RunCause.FIRST]);
  expect(listed.runs.map(({ verificationId }) => verificationId)[1]).toBe(first.verificationId);
  await gateway.cancelMonitor({ caller, monitorId: monitor!.id });
  requests.length = 0;
  webhooks.length = 0;
});

test("changes between a monitor's runs reach the webhook queue once each and in order, until it is canceled", async () => {
  const caller = toProtoCaller(someCaller());
  const wanted = {
    caller,
    entityId: newId("ent"),
    checks: [CheckType.SAM_REGISTRATION],
    webhookUrl: "https://example.com/hook",
    frequency: Frequency.HOURLY,
    activeLimit: 1,
  };
  await expect(gateway.createMonitor({ ...wanted, entityId: unknownEntity })).rejects.toMatchObject({
    code: "entity_not_found",
  });
  const { monitor } = await gateway.createMonitor(wanted);
  const monitorId = monitor!.id;
  await eventually(() => webhooks.length >= 3);

  const { monitor: canceled } = await gateway.cancelMonitor({ caller, monitorId });
  expect(canceled).toMatchObject({ status: "canceled", consecutiveErrors: 0 });
  const { events } = await gateway.listEvents({ caller, monitorId, page: { limit: 100 } });
  await eventually(() => webhooks.length >= events.length);

  expect(webhooks.map(({ record }) => record.eventId)).toEqual(events.map(({ id }) => id).reverse());
  expect(webhooks.map(({ record }) => Number(record.run?.runSeq))).toEqual(webhooks.map((_, index) => index + 2));
  expect(webhooks[0]!.record).toMatchObject({
    run: { monitorId },
    entityId: wanted.entityId,
    webhookUrl: wanted.webhookUrl,
    changes: [
      { field: "sam_registration.status", previous: "pass", current: "fail" },
      { field: "sam_registration.registration_status", previous: "active", current: "expired" },
    ],
  });
  const traces = webhooks.map(traceOf);
  expect(traces).toEqual(webhooks.map((_, index) => traceOf(requests[index + 1]!)));
  expect(new Set(traces).size).toBe(webhooks.length);
  const ended = await eventually(async () => {
    const { monitor: now } = await gateway.getMonitor({ caller, monitorId });
    return now?.lastRun;
  });
  expect(ended.verificationId).toMatch(/^ver_/);
  const exits = await Promise.all([...services.values()].map((service) => service.stop()));
  expect(exits.map(({ code }) => code)).toEqual([0, 0]);
});
