import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { createKafka, deadLetterTopic, type Kafka, type ProducerRecord, type TopicName } from "@vvs/kafka";
import { createLogger } from "@vvs/logging";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import {
  ChangeDetectedSchema,
  VerificationCompletedSchema,
  VerificationRequestedSchema,
  WebhookRequestedSchema,
} from "@vvs/proto/events/v1/events";
import { eventually } from "@vvs/testing";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { type Subscriber, startSubscriber } from "../support/subscriber.ts";
import { recordsOf } from "../support/topic-records.ts";

/** Of a version that is not written yet. */
const UNKNOWN = 99;
const NO_CALENDAR_HAS_IT = { seconds: 10n ** 15n };

const { environment } = sharedProduct();
const brokers = environment.KAFKA_BROKERS!.split(",");
const topicPrefix = environment.KAFKA_TOPIC_PREFIX!;
let kafka: Kafka;
let organization: TestOrganization;
let subscriber: Subscriber;

beforeAll(async () => {
  const logger = createLogger({ service: "test", level: "silent" });
  kafka = createKafka({ brokers, clientId: "test", topicPrefix, logger });
  organization = await createOrganization();
  subscriber = await startSubscriber();
});

afterAll(() => subscriber.close());

/** One thing that is wrong with a record, and the consumers that can't process it for that. */
type Fault = readonly [name: string, change: object, groups: readonly string[]];

interface Topic {
  readonly name: TopicName;
  readonly schema: DescMessage;
  readonly good: (monitorId: string) => object;
  readonly groups: readonly string[];
  readonly faults: readonly Fault[];
}

const sandbox = { environment: Environment.SANDBOX };
const runFaults = (groups: readonly string[]): Fault[] => [
  ["a run without a monitor", { run: { monitorId: "", runSeq: 1n } }, groups],
  ["a run numbered 0", { run: { monitorId: "mon_1", runSeq: 0n } }, groups],
  ["a run with a negative number", { run: { monitorId: "mon_1", runSeq: -1n } }, groups],
  ["a run with a number beyond all that are exact", { run: { monitorId: "mon_1", runSeq: 2n ** 60n } }, groups],
];
const faultsOfAll = (groups: readonly string[]): Fault[] => [
  ["no tenant", { tenant: undefined }, groups],
  ["a tenant without an organization", { tenant: sandbox }, groups],
  ["a tenant without an environment", { tenant: { organizationId: "org_1" } }, groups],
  ["an unknown environment", { tenant: { organizationId: "org_1", environment: UNKNOWN } }, groups],
  ["the other environment", { tenant: { organizationId: "org_1", environment: Environment.LIVE } }, groups],
  ...runFaults(groups),
];
const tenant = () => ({ organizationId: organization.id, ...sandbox });
const run = (monitorId: string) => ({ monitorId, runSeq: 1n });
const changes = [{ field: "sam_registration.status", previous: "pass", current: "fail" }];
const check = { checkType: CheckType.SAM_REGISTRATION, status: CheckStatus.PASS };

const verification = ["verification"];
const monitor = ["monitor"];
const changeDetector = ["change-detector"];
const dispatcher = ["webhook-dispatcher"];
const both = [...monitor, ...changeDetector];

const topics: readonly Topic[] = [
  {
    name: "verification.requested",
    schema: VerificationRequestedSchema,
    groups: verification,
    good: (monitorId) => ({
      recordId: `${monitorId}:1`,
      tenant: tenant(),
      run: run(monitorId),
      entityId: newId("ent"),
      checks: [CheckType.SAM_REGISTRATION],
      requestedAt: timestampFromDate(new Date()),
    }),
    faults: [
      ...faultsOfAll(verification),
      ["no run", { run: undefined }, verification],
      ["no id of its own", { recordId: "" }, verification],
      ["no entity", { entityId: "" }, verification],
      ["no check", { checks: [] }, verification],
      ["no known check", { checks: [CheckType.UNSPECIFIED, UNKNOWN] }, verification],
    ],
  },
  {
    name: "verification.completed",
    schema: VerificationCompletedSchema,
    groups: both,
    good: (monitorId) => ({
      verificationId: newId("ver"),
      tenant: tenant(),
      entityId: newId("ent"),
      run: run(monitorId),
      checks: [check],
      overallResult: CheckStatus.PASS,
      createdAt: timestampFromDate(new Date()),
    }),
    faults: [
      ...faultsOfAll(both),
      ["another organization's monitor", { tenant: { organizationId: newId("org"), ...sandbox } }, both],
      ["no verification", { verificationId: "" }, both],
      ["no time", { createdAt: undefined }, both],
      ["an impossible time", { createdAt: NO_CALENDAR_HAS_IT }, both],
      ["an unspecified result", { overallResult: CheckStatus.UNSPECIFIED }, monitor],
      ["an unknown result", { overallResult: UNKNOWN }, monitor],
      ["no entity", { entityId: "" }, changeDetector],
      ["no check", { checks: [] }, changeDetector],
      ["no known check", { checks: [{ checkType: UNKNOWN }, { checkType: CheckType.UNSPECIFIED }] }, changeDetector],
      ["a check of unspecified status", { checks: [{ ...check, status: 0 }] }, changeDetector],
      ["a check of unknown status", { checks: [{ ...check, status: UNKNOWN }] }, changeDetector],
    ],
  },
  {
    name: "monitor.change_detected",
    schema: ChangeDetectedSchema,
    groups: monitor,
    good: (monitorId) => ({
      eventId: newId("evt"),
      tenant: tenant(),
      run: run(monitorId),
      entityId: newId("ent"),
      verificationId: newId("ver"),
      changes,
      detectedAt: timestampFromDate(new Date()),
    }),
    faults: [
      ...faultsOfAll(monitor),
      ["no run", { run: undefined }, monitor],
      ["no event", { eventId: "" }, monitor],
      ["no entity", { entityId: "" }, monitor],
      ["no verification", { verificationId: "" }, monitor],
      ["no change", { changes: [] }, monitor],
      ["a change of no field", { changes: [{ field: "" }] }, monitor],
      ["no time", { detectedAt: undefined }, monitor],
      ["an impossible time", { detectedAt: NO_CALENDAR_HAS_IT }, monitor],
    ],
  },
  {
    name: "webhook.requested",
    schema: WebhookRequestedSchema,
    groups: dispatcher,
    good: (monitorId) => ({
      eventId: newId("evt"),
      tenant: tenant(),
      run: run(monitorId),
      entityId: newId("ent"),
      verificationId: newId("ver"),
      webhookUrl: new URL("/never", subscriber.url).href,
      changes,
      detectedAt: timestampFromDate(new Date()),
    }),
    faults: [
      ...faultsOfAll(dispatcher),
      ["no run", { run: undefined }, dispatcher],
      ["no event", { eventId: "" }, dispatcher],
      ["an event of no form", { eventId: "evt_1" }, dispatcher],
      ["no entity", { entityId: "" }, dispatcher],
      ["no verification", { verificationId: "" }, dispatcher],
      ["no URL", { webhookUrl: "" }, dispatcher],
      ["a URL that is none", { webhookUrl: "http://" }, dispatcher],
      ["a URL of another protocol", { webhookUrl: "ftp://example.com/hook" }, dispatcher],
      ["no change", { changes: [] }, dispatcher],
      ["a change of no field", { changes: [{ field: "" }] }, dispatcher],
      ["no time", { detectedAt: undefined }, dispatcher],
      ["an impossible time", { detectedAt: NO_CALENDAR_HAS_IT }, dispatcher],
    ],
  },
];

/** The impossible records of a topic, under the monitor's key: what it sends next comes after them. */
function impossibleRecords({ name, schema, good, faults }: Topic, monitorId: string): ProducerRecord[] {
  const encoded = (change: object) =>
    toBinary(schema, create(schema, { ...good(monitorId), ...change } as MessageInitShape<DescMessage>));
  const values: [fault: string, value: Uint8Array | null][] = [
    ["bytes that do not decode", Buffer.from("\u0007 no message")],
    ["half a record", encoded({}).subarray(0, -3)],
    ["no value", null],
    ["an empty value", new Uint8Array()],
    ...faults.map(([fault, change]) => [fault, encoded(change)] as [string, Uint8Array]),
  ];
  const topic = kafka.topicFor("sandbox", name);
  return values.map(([fault, value]) => ({ topic, key: monitorId, value, headers: { fault } }));
}

/** The faults that a consumer put aside, each as often as it did. */
async function putAside(topic: Topic, group: string, monitorId: string): Promise<string[]> {
  const letters = await recordsOf({ brokers, topic: deadLetterTopic(kafka.topicFor("sandbox", topic.name)) });
  return letters
    .filter(
      ({ key, headers }) => key === monitorId && headers["dead-letter-group"] === `${topicPrefix}${group}.sandbox`,
    )
    .map(({ headers }) => headers.fault!)
    .sort();
}

test("a record that can never be processed is put aside once by each consumer, and the next ones are processed", async () => {
  const lookup = await organization.sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } });
  const created = await organization.sandbox.post("/v1/monitors", {
    entity_id: lookup.body.id,
    checks: ["sam_registration"],
    frequency: "hourly",
    webhook_url: subscriber.url,
  });
  const { id } = created.body;
  await subscriber.waitForPost();
  const producer = kafka.producer();
  const sent = topics.map((topic) => impossibleRecords(topic, id));
  for (const records of sent) await producer.send(records);
  await producer.close();

  for (const [index, topic] of topics.entries()) {
    const undecodable = sent[index]!.slice(0, sent[index]!.length - topic.faults.length);
    for (const group of topic.groups) {
      const expected = [
        ...undecodable.map(({ headers }) => headers!.fault!),
        ...topic.faults.filter(([, , groups]) => groups.includes(group)).map(([fault]) => fault),
      ].sort();
      await eventually(async () => {
        return (await putAside(topic, group, id)).length >= expected.length;
      });
      expect({ group, topic: topic.name, faults: await putAside(topic, group, id) }).toEqual({
        group,
        topic: topic.name,
        faults: expected,
      });
    }
  }
  // A run that was claimed after them went through all four topics.
  const before = subscriber.received.length;
  await eventually(() => subscriber.received.length >= before + 2);
  expect(subscriber.received.map(({ path }) => path)).not.toContain("/never");
  await organization.sandbox.delete(`/v1/monitors/${id}`);
});
