import { expect, test } from "@jest/globals";
import kafkajs, { type Kafka as Library } from "kafkajs";
import { ensureTopics } from "./ensure-topics.ts";
import { testKafka } from "./testing.ts";

const { kafka, createTopic, read } = testKafka();

test("a topic is created once, even by repeated and concurrent calls", async () => {
  const topics = await Promise.all(Array.from({ length: 4 }, () => createTopic("same", 2)));
  expect(await read(topics[0]!)).toEqual([]);
  await createTopic("same", 2);
});

test("a topic that the brokers refuse is an error", async () => {
  const spec = { topic: "not a name", partitions: 1, retentionMs: 1_000, maxRecordBytes: 1_000 };
  await expect(kafka.ensureTopics([spec])).rejects.toThrow("could not be created");
});

test("topics that exist already are there for the caller only when the broker lists them", async () => {
  const topic = await createTopic("slow");
  const library = new kafkajs.Kafka({
    brokers: process.env.KAFKA_BROKERS!.split(","),
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const admin = library.admin();
  const { listTopics } = admin;
  let lists = 0;
  // This broker knows the topic later than the controller that created it.
  admin.listTopics = async () => (++lists < 3 ? [] : await listTopics());
  const slow = { admin: () => admin } as Library;
  await ensureTopics(slow, [{ topic, partitions: 1, retentionMs: 3_600_000, maxRecordBytes: 1_000 }]);
  expect(lists).toBe(3);
});
