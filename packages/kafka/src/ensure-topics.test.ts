import { afterAll, expect, test } from "@jest/globals";
import { testKafka } from "./testing.ts";

const { kafka, createTopic, read, close } = testKafka({ brokers: process.env.KAFKA_BROKERS! });
afterAll(close);

test("topics are created once, however often and by however many at once that is asked", async () => {
  const topics = await Promise.all(Array.from({ length: 4 }, () => createTopic("same", 2)));
  expect(await read(topics[0]!)).toEqual([]);
  await createTopic("same", 2);
});

test("what the brokers refuse is told", async () => {
  const spec = { topic: "not a name", partitions: 1, retentionMs: 1_000, maxRecordBytes: 1_000 };
  await expect(kafka.ensureTopics([spec])).rejects.toThrow("could not be created");
});
