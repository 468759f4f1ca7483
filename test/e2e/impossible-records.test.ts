import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { createKafka, deadLetterTopic, type ProducerRecord, type TopicName } from "@vvs/kafka";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import {
  ChangeDetectedSchema,
  MonitorStateChangedSchema,
  RegistryChangedSchema,
  VerificationCompletedSchema,
  VerificationRequestedSchema,
  WebhookRequestedSchema,
} from "@vvs/proto/events/v1/events";
import { eventually, silentLogger as logger } from "@vvs/testing";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { startSubscriber } from "../support/subscriber.ts";
import { recordsOf } from "../support/topic-records.ts";
import { monitorChanging } from "../support/watching-organization.ts";

/** An enum value that this version does not know. */
const UNKNOWN = 99;
const IMPOSSIBLE_TIME = { seconds: 10n ** 15n };
/** A number too large for JavaScript to represent exactly. */
const TOO_LARGE = 2n ** 60n;

const { environment } = sharedProduct();
const brokers = environment.KAFKA_BROKERS!.split(",");
const topicPrefix = environment.KAFKA_TOPIC_PREFIX!;

const kafka = createKafka({ brokers, clientId: "test", topicPrefix, logger });
const organization = await createOrganization();
const subscriber = await startSubscriber();

/** One fault of a record, and the consumers that can't process the record because of it. */
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
  ["a run with too large a number", { run: { monitorId: "mon_1", runSeq: TOO_LARGE } }, groups],
];
const tenantFaults = (groups: readonly string[]): Fault[] => [
  ["no tenant", { tenant: undefined }, groups],
  ["a tenant without an organization", { tenant: sandbox }, groups],
  ["a tenant without an environment", { tenant: { organizationId: "org_1" } }, groups],
  ["an unknown environment", { tenant: { organizationId: "org_1", environment: UNKNOWN } }, groups],
  ["the other environment", { tenant: { organizationId: "org_1", environment: Environment.LIVE } }, groups],
];
/** For records of a run. */
const faultsOfAll = (groups: readonly string[]): Fault[] => [...tenantFaults(groups), ...runFaults(groups)];
const tenant = () => ({ organizationId: organization.id, ...sandbox });
const now = () => timestampFromDate(new Date());
const base = (monitorId: string) => ({ tenant: tenant(), run: { monitorId, runSeq: 1n }, entityId: newId("ent") });
const check = { checkType: CheckType.SAM_REGISTRATION, status: CheckStatus.PASS };
const changeEvent = (monitorId: string) => ({
  ...base(monitorId),
  eventId: newId("evt"),
  verificationId: newId("ver"),
  changes: [{ field: "sam_registration.status", previous: "pass", current: "fail" }],
  detectedAt: now(),
});
const changeEventFaults = (groups: readonly string[]): Fault[] => [
  ...faultsOfAll(groups),
  ["no run", { run: undefined }, groups],
  ["no event", { eventId: "" }, groups],
  ["no entity", { entityId: "" }, groups],
  ["no verification", { verificationId: "" }, groups],
  ["no change", { changes: [] }, groups],
  ["a change without a field", { changes: [{ field: "" }] }, groups],
  ["no time", { detectedAt: undefined }, groups],
  ["an impossible time", { detectedAt: IMPOSSIBLE_TIME }, groups],
];

const verification = ["verification"];
const tinVerification = ["verification.tin_match"];
const monitor = ["monitor"];
const changeDetector = ["change-detector"];
const dispatcher = ["webhook-dispatcher"];
const both = [...monitor, ...changeDetector];
const entity = ["entity"];
/** A vendor that every organization sees; read before the records are made. */
let entityId = "";

/** Faults of a record that reports a new URL of a monitor instead of an event. */
const urlChangeFaults = [...faultsOfAll(dispatcher), ["no run", { run: undefined }, dispatcher] as Fault].map(
  ([name, change, groups]): Fault => [`a new URL: ${name}`, { ...change, urlChanged: true, urlVersion: 1n }, groups],
);

/** A topic of runs that request verifications. */
const requested = (name: TopicName, checks: readonly CheckType[], groups: readonly string[]): Topic => ({
  name,
  schema: VerificationRequestedSchema,
  groups,
  good: (monitorId) => ({ ...base(monitorId), recordId: `${monitorId}:1`, checks, requestedAt: now() }),
  faults: [
    ...faultsOfAll(groups),
    ["no run", { run: undefined }, groups],
    ["no id of its own", { recordId: "" }, groups],
    ["no entity", { entityId: "" }, groups],
    ["no check", { checks: [] }, groups],
    ["no known check", { checks: [CheckType.UNSPECIFIED, UNKNOWN] }, groups],
  ],
});

const completed: Topic = {
  name: "verification.completed",
  schema: VerificationCompletedSchema,
  groups: [...both, ...entity],
  good: (monitorId) => ({
    ...base(monitorId),
    verificationId: newId("ver"),
    checks: [check],
    overallResult: CheckStatus.PASS,
    createdAt: now(),
  }),
  faults: [
    ...tenantFaults([...both, ...entity]),
    ...runFaults(both),
    ["another organization's monitor", { tenant: { organizationId: newId("org"), ...sandbox } }, both],
    ["no verification", { verificationId: "" }, [...both, ...entity]],
    ["no time", { createdAt: undefined }, [...both, ...entity]],
    ["an impossible time", { createdAt: IMPOSSIBLE_TIME }, [...both, ...entity]],
    ["an unspecified result", { overallResult: CheckStatus.UNSPECIFIED }, monitor],
    ["an unknown result", { overallResult: UNKNOWN }, monitor],
    ["no entity", { entityId: "" }, [...changeDetector, ...entity]],
    ["no check", { checks: [] }, [...changeDetector, ...entity]],
    [
      "no known check",
      { checks: [{ checkType: UNKNOWN }, { checkType: CheckType.UNSPECIFIED }] },
      [...changeDetector, ...entity],
    ],
    ["a check with an unspecified status", { checks: [{ ...check, status: 0 }] }, [...changeDetector, ...entity]],
    ["a check with an unknown status", { checks: [{ ...check, status: UNKNOWN }] }, [...changeDetector, ...entity]],
  ],
};

const topics: readonly Topic[] = [
  requested("verification.requested", [CheckType.SAM_REGISTRATION], verification),
  requested("verification.requested.tin_match", [CheckType.TIN_MATCH], tinVerification),
  completed,
  { ...completed, name: "verification.completed.direct", groups: entity },
  {
    name: "monitor.change_detected",
    schema: ChangeDetectedSchema,
    groups: monitor,
    good: changeEvent,
    faults: changeEventFaults(monitor),
  },
  {
    name: "monitor.state_changed",
    schema: MonitorStateChangedSchema,
    groups: entity,
    good: (monitorId) => ({ tenant: tenant(), recordId: `${monitorId}:active`, monitorId, entityId, active: true }),
    faults: [
      ...tenantFaults(entity),
      ["another organization's monitor", { tenant: { organizationId: newId("org"), ...sandbox } }, entity],
      ["no id of its own", { recordId: "" }, entity],
      ["no monitor", { monitorId: "" }, entity],
      ["no entity", { entityId: "" }, entity],
      ["an entity that does not exist", { entityId: newId("ent") }, entity],
    ],
  },
  {
    name: "registry.changed",
    schema: RegistryChangedSchema,
    groups: monitor,
    good: () => ({ recordId: "record", loadId: "registry:1", entityIds: [newId("ent")], changedAt: now() }),
    faults: [
      ["no id of its own", { recordId: "" }, monitor],
      ["no load", { loadId: "" }, monitor],
      ["no entity", { entityIds: [] }, monitor],
      ["an entity without an id", { entityIds: [""] }, monitor],
      ["no time", { changedAt: undefined }, monitor],
      ["an impossible time", { changedAt: IMPOSSIBLE_TIME }, monitor],
    ],
  },
  {
    name: "webhook.requested",
    schema: WebhookRequestedSchema,
    groups: dispatcher,
    good: (monitorId) => ({ ...changeEvent(monitorId), webhookUrl: new URL("/never", subscriber.url).href }),
    faults: [
      ...changeEventFaults(dispatcher),
      ["a malformed event id", { eventId: "evt_1" }, dispatcher],
      ["no URL", { webhookUrl: "" }, dispatcher],
      ["an invalid URL", { webhookUrl: "http://" }, dispatcher],
      ["a URL of another protocol", { webhookUrl: "ftp://example.com/hook" }, dispatcher],
      ["a URL with a negative number", { urlVersion: -1n }, dispatcher],
      ["a URL with too large a number", { urlVersion: TOO_LARGE }, dispatcher],
      ...urlChangeFaults,
      ["a new URL without a number", { urlChanged: true }, dispatcher],
      ["a new URL with a negative number", { urlChanged: true, urlVersion: -1n }, dispatcher],
      ["a new URL with too large a number", { urlChanged: true, urlVersion: TOO_LARGE }, dispatcher],
      ["a new URL that is invalid", { urlChanged: true, urlVersion: 1n, webhookUrl: "http://" }, dispatcher],
      [
        "a new URL of another protocol",
        { urlChanged: true, urlVersion: 1n, webhookUrl: "ftp://a.example" },
        dispatcher,
      ],
    ],
  },
];

/** Returns the impossible records of a topic, with the monitor's key so that its next records come after them. */
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

/** Returns the faults of the records that a consumer dead-lettered, one for each record. */
async function deadLettered(topic: Topic, group: string, monitorId: string): Promise<string[]> {
  const letters = await recordsOf({ brokers, topic: deadLetterTopic(kafka.topicFor("sandbox", topic.name)) });
  return letters
    .filter(
      ({ key, headers }) => key === monitorId && headers["dead-letter-group"] === `${topicPrefix}${group}.sandbox`,
    )
    .map(({ headers }) => headers.fault!)
    .sort();
}

test("a record that can never be processed is dead-lettered once by each consumer, and the next ones are processed", async () => {
  const postsTo = (path: string) => subscriber.received.filter((post) => post.path === path).length;
  const monitorOf = async (checks: readonly string[], path: string): Promise<string> => {
    const webhook_url = new URL(path, subscriber.url).href;
    const monitor = await monitorChanging(organization.sandbox, { checks, webhook_url });
    entityId = monitor.entity_id;
    await eventually(() => postsTo(path) > 0, { timeoutMs: 60_000 });
    return monitor.id;
  };
  const plain = await monitorOf(["sam_registration"], "/plain");
  const withTin = await monitorOf(["sam_registration", "tin_match"], "/tin");
  const idFor = ({ name }: Topic) => (name === "verification.requested.tin_match" ? withTin : plain);
  const producer = kafka.producer();
  const sent = topics.map((topic) => impossibleRecords(topic, idFor(topic)));
  for (const records of sent) await producer.send(records);
  await producer.close();

  for (const [index, topic] of topics.entries()) {
    const undecodable = sent[index]!.slice(0, sent[index]!.length - topic.faults.length);
    for (const group of topic.groups) {
      const expected = [
        ...undecodable.map(({ headers }) => headers!.fault!),
        ...topic.faults.filter(([, , groups]) => groups.includes(group)).map(([fault]) => fault),
      ].sort();
      // On a time-out the comparison below names the missing fault.
      await eventually(async () => {
        return (await deadLettered(topic, group, idFor(topic))).length >= expected.length;
      }).catch(() => undefined);
      expect({ group, topic: topic.name, faults: await deadLettered(topic, group, idFor(topic)) }).toEqual({
        group,
        topic: topic.name,
        faults: expected,
      });
    }
  }
  // A run that was claimed after these records passes through all topics of its monitor's runs.
  const before = { plain: postsTo("/plain"), tin: postsTo("/tin") };
  await eventually(() => postsTo("/plain") >= before.plain + 2 && postsTo("/tin") >= before.tin + 2);
  expect(subscriber.received.map(({ path }) => path)).not.toContain("/never");
  for (const id of [plain, withTin]) await organization.sandbox.delete(`/v1/monitors/${id}`);
});
