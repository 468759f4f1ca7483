import { create, toBinary } from "@bufbuild/protobuf";
import { StringValueSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { SpanKind, trace } from "@opentelemetry/api";
import { recordTelemetry } from "@vvs/telemetry/testing";
import { eventually, silentLogger as logger } from "@vvs/testing";
import { batchSubscription } from "./index.ts";
import { testKafka } from "./testing.ts";

const { spans, metric } = recordTelemetry();

const { kafka, prefix, createTopic } = testKafka();

const points = async (name: string) => (await metric(name))?.dataPoints ?? [];

test("a record is processed in the trace in which it was sent, with the messaging attributes", async () => {
  const topic = await createTopic("traced");
  const value = toBinary(StringValueSchema, create(StringValueSchema, { value: "a1" }));
  const producer = kafka.producer();
  const root = await trace.getTracer("test").startActiveSpan("root", async (span) => {
    await producer.send([
      { topic, key: "a", value },
      { topic, key: "b", value: Uint8Array.of(0xff) },
    ]);
    span.end();
    return span.spanContext();
  });
  const inHandler: (string | undefined)[] = [];
  const consumer = kafka.runConsumer({
    groupId: "traced",
    concurrency: 1,
    logger,
    subscriptions: [
      {
        topic,
        schema: StringValueSchema,
        handle: async () => void inHandler.push(trace.getActiveSpan()?.spanContext().spanId),
      },
    ],
  });
  await eventually(() => spans.filter(({ name }) => name === `process ${topic}`).length === 2);
  await eventually(async () => (await points("kafka_consumer_committed_lag"))[0]?.value === 0);

  const sent = spans.find(({ name }) => name === `send ${topic}`)!;
  const processed = spans.find(
    ({ name, attributes }) => name === `process ${topic}` && attributes["messaging.kafka.message.key"] === "a",
  )!;
  expect(sent.kind).toBe(SpanKind.PRODUCER);
  expect(sent.spanContext().traceId).toBe(root.traceId);
  expect(sent.parentSpanContext?.spanId).toBe(root.spanId);
  expect(sent.attributes["messaging.batch.message_count"]).toBe(2);
  expect(spans.filter(({ name }) => name === `send ${topic}`)).toHaveLength(1);
  expect(processed.kind).toBe(SpanKind.CONSUMER);
  expect(processed.parentSpanContext?.spanId).toBe(root.spanId);
  expect(inHandler).toEqual([processed.spanContext().spanId]);
  expect(processed.attributes).toEqual({
    "messaging.system": "kafka",
    "messaging.operation.name": "process",
    "messaging.operation.type": "process",
    "messaging.destination.name": topic,
    "messaging.destination.partition.id": "0",
    "messaging.consumer.group.name": `${prefix}traced`,
    "messaging.kafka.offset": 0,
    "messaging.kafka.message.key": "a",
  });

  const [consumed] = await points("messaging.client.consumed.messages");
  expect(consumed?.value).toBe(2);
  const [letters] = await points("dead_letter_records");
  expect(letters).toMatchObject({ value: 1, attributes: { reason: "undecodable" } });
  expect(await points("messaging.process.duration")).toHaveLength(1);
  expect((await points("messaging.client.sent.messages")).map(({ value }) => value).sort()).toEqual([1, 2]);
  await consumer.stop();
  await producer.close();
});

test.each([
  ["of few records has a span for each, to which later work belongs", 50, 50],
  ["of many records has one span, and later work belongs to the span that sent the record", 51, 1],
])("a batch %s", async (_name, count, expected) => {
  const topic = await createTopic(`batch-${count}`);
  const traceOf = (number: number) => `00-${String(number).padStart(32, "1")}-${"2".repeat(16)}-01`;
  const value = toBinary(StringValueSchema, create(StringValueSchema, { value: "a1" }));
  const producer = kafka.producer();
  await producer.send(
    Array.from({ length: count }, (_, index) => ({ topic, key: "a", value, headers: { traceparent: traceOf(index) } })),
  );
  const traces: string[] = [];
  const handleBatch = async (items: readonly { trace: { traceparent?: string } }[]) =>
    void traces.push(...items.map(({ trace }) => trace.traceparent!));
  const consumer = kafka.runConsumer({
    groupId: topic,
    concurrency: 1,
    logger,
    subscriptions: [batchSubscription({ topic, schema: StringValueSchema, maxBatch: 100, handleBatch })],
  });
  const found = () => spans.filter(({ name }) => name === `process ${topic}`);
  await eventually(() => found().length > 0);
  expect(found()).toHaveLength(expected);
  const parents = traces.map((each) => each.split("-").slice(1, 3));
  expect(parents.map(([traceId]) => traceId)).toEqual(traces.map((_, index) => traceOf(index).split("-")[1]));
  const ownSpans = found().map((span) => span.spanContext().spanId);
  const senders = Array(count).fill("2".repeat(16));
  expect(parents.map(([, spanId]) => spanId)).toEqual(expected === 1 ? senders : ownSpans);
  expect(found()[0]!.attributes["messaging.batch.message_count"]).toBe(expected === 1 ? count : undefined);
  await consumer.stop();
  await producer.close();
});
