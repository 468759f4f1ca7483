import { isDeepStrictEqual } from "node:util";
import { StringValueSchema } from "@bufbuild/protobuf/wkt";
import { beforeAll, expect, test } from "@jest/globals";
import { recordTelemetry } from "@vvs/telemetry/testing";
import { captureLogs, eventually, silentLogger as logger } from "@vvs/testing";
import { createKafka } from "./client.ts";
import { consumerGroups, groupFor } from "./groups.ts";
import { testKafka } from "./testing.ts";
import { allTopics, topicFor } from "./topics.ts";

const { metric } = recordTelemetry();
const { kafka, prefix, createTopic, send, committed } = testKafka();
const topic = topicFor({ prefix, environment: "live", topic: "webhook.requested" });
const stopping = new AbortController().signal;

beforeAll(async () => {
  const names = allTopics().filter(({ topic: name }) => !name.endsWith(".dlq"));
  for (const { topic: name } of names) await createTopic(name, 2);
}, 60_000);

/** Waits until the dispatcher's group has committed this number of records. */
const consumed = (count: number) =>
  eventually(async () => {
    const offsets = await committed(groupFor({ environment: "live", group: "webhook-dispatcher" }), topic);
    return offsets.reduce((sum, offset) => sum + Math.max(0, offset), 0) === count;
  });

const ofDispatcher = async (name: string) => {
  const points = (await metric(name))?.dataPoints ?? [];
  return points
    .filter(({ attributes: { environment, group } }) => environment === "live" && group === "webhook-dispatcher")
    .map(({ attributes, value }) => [attributes.topic, attributes.older_than, value]);
};

/** Waits until a reading with a clock that is ahead of that of the records shows this. */
async function expectAt(aheadMs: number, lag: number, late: readonly [minute: number, tenMinutes: number]) {
  const observed = kafka.observeGroups({ now: () => new Date(Date.now() + aheadMs), stopping, logger });
  try {
    await eventually(async () => {
      const values = [...(await ofDispatcher("kafka_group_lag")), ...(await ofDispatcher("kafka_group_late_records"))];
      return isDeepStrictEqual(values, [
        ["webhook.requested", undefined, lag],
        ["webhook.requested", "60s", late[0]],
        ["webhook.requested", "600s", late[1]],
      ]);
    });
  } finally {
    await observed.close();
  }
}

test("records of a group without any consumer are counted, and as late once they are older than a limit", async () => {
  await send(topic, ..."abcde");
  await expectAt(0, 5, [0, 0]);
  await expectAt(90_000, 5, [5, 0]);
  await expectAt(700_000, 5, [5, 5]);

  const consumer = kafka.runConsumer({
    groupId: groupFor({ environment: "live", group: "webhook-dispatcher" }),
    concurrency: 4,
    logger,
    subscriptions: [{ topic, schema: StringValueSchema, handle: async () => undefined }],
  });
  await consumer.ready;
  await consumed(5);
  await consumer.stop();
  await expectAt(700_000, 0, [0, 0]);
  await send(topic, "a", "b");
  await expectAt(90_000, 2, [2, 0]);
}, 60_000);

test("every group and topic of both environments is reported", async () => {
  const pairs = 2 * Object.values(consumerGroups).flat().length;
  const observed = kafka.observeGroups({ now: () => new Date(), stopping, logger });
  const points = await eventually(async () => {
    const found = (await metric("kafka_group_lag"))?.dataPoints ?? [];
    return found.length === pairs && found;
  });
  await observed.close();
  expect(new Set(points.map(({ attributes }) => JSON.stringify(attributes))).size).toBe(pairs);
});

test("while the brokers don't answer the age of the last reading grows", async () => {
  const { logger: log, lines } = captureLogs("error");
  const away = createKafka({ brokers: ["127.0.0.1:1"], clientId: "test", topicPrefix: prefix, logger });
  const observed = away.observeGroups({ now: () => new Date(), stopping, logger: log });
  const age = async () => (await metric("kafka_group_lag_age"))!.dataPoints[0]!.value as number;
  const first = await age();
  await eventually(() => lines.some(({ msg }) => String(msg).includes("the lag of consumer groups can't be read")));
  expect(await age()).toBeGreaterThan(first);
  await observed.close();
}, 60_000);
