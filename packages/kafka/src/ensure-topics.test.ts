import { afterAll, expect, test } from "@jest/globals";
import { testKafka } from "./testing.ts";

const { kafka, createTopic, read, close } = testKafka({ brokers: process.env.KAFKA_BROKERS! });
afterAll(close);

test("a topic is created once, even by repeated and concurrent calls", async () => {
  const topics = await Promise.all(Array.from({ length: 4 }, () => createTopic("same", 2)));
  expect(await read(topics[0]!)).toEqual([]);
  await createTopic("same", 2);
});

test("a topic that the brokers refuse is an error", async () => {
  const spec = { topic: "not a name", partitions: 1, retentionMs: 1_000, maxRecordBytes: 1_000 };
  await expect(kafka.ensureTopics([spec])).rejects.toThrow("could not be created");
});
