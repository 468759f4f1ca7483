import { expect, test } from "@jest/globals";
import { trace } from "@opentelemetry/api";
import { testKafka } from "@vvs/kafka/testing";
import { recordTelemetry } from "@vvs/telemetry/testing";
import { eventually, silentLogger as logger, testMongo } from "@vvs/testing";
import { createOutbox, migrateOutbox } from "./outbox.ts";
import { runOutboxRelay } from "./relay.ts";

const { spans, metric } = recordTelemetry();

const { kafka, createTopic } = testKafka();
const { client, db } = await testMongo();

const value = async (name: string) => (await metric(name))?.dataPoints[0]?.value;

test("a record published later belongs to the trace of the transaction that stored it", async () => {
  const topic = await createTopic("traced");
  await migrateOutbox(db);
  const outbox = createOutbox({ db });
  const origin = await trace.getTracer("test").startActiveSpan("origin", async (span) => {
    await client.withSession((session) =>
      session.withTransaction(() => outbox.append(session, { id: "r1", topic, key: "a", value: Buffer.from("a1") })),
    );
    span.end();
    return span.spanContext();
  });
  const producer = kafka.producer();
  let isUnavailable = true;
  const relay = runOutboxRelay({
    db,
    owner: "one",
    logger,
    pollMs: 20,
    producer: {
      async send(records) {
        if (isUnavailable) throw new Error("Kafka is unavailable");
        await producer.send(records);
      },
    },
  });
  await eventually(async () => Number(await value("outbox_oldest_unsent_seconds")) > 0);
  isUnavailable = false;
  await eventually(async () => (await value("outbox_oldest_unsent_seconds")) === 0);
  expect(await value("outbox_relayed_records")).toBe(1);
  const sent = spans.find(({ name }) => name === `send ${topic}`)!;
  expect(sent.spanContext().traceId).toBe(origin.traceId);
  expect(sent.parentSpanContext?.spanId).toBe(origin.spanId);
  await relay.stop();
  await producer.close();
});
