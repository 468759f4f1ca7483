import { create, toBinary } from "@bufbuild/protobuf";
import { type StringValue, StringValueSchema } from "@bufbuild/protobuf/wkt";
import { afterEach, expect, test } from "@jest/globals";
import { eventually, silentLogger as logger } from "@vvs/testing";
import { batchSubscription, PoisonRecordError } from "../index.ts";
import { testKafka } from "../testing.ts";
import { deadLetterTopic } from "../topics.ts";
import type { RunningConsumer } from "./consumer.ts";

const { kafka, createTopic, read, committed } = testKafka();
const running: RunningConsumer[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((consumer) => consumer.stop()));
});

function consume(topic: string, handle: (texts: string[]) => Promise<void>, maxBatch = 50): RunningConsumer {
  const consumer = kafka.runConsumer({
    groupId: "batches",
    concurrency: 1,
    logger,
    subscriptions: [
      batchSubscription({
        topic,
        schema: StringValueSchema,
        maxBatch,
        handleBatch: (items) => handle(items.map(({ message }) => (message as StringValue).value)),
      }),
    ],
  });
  running.push(consumer);
  return consumer;
}

const UNDECODABLE = "undecodable";

async function send(topic: string, texts: readonly string[]): Promise<void> {
  const producer = kafka.producer();
  await producer.send(
    texts.map((text) => ({
      topic,
      key: text[0]!,
      value: text === UNDECODABLE ? null : toBinary(StringValueSchema, create(StringValueSchema, { value: text })),
    })),
  );
  await producer.close();
}

test("records come in batches of a bounded size, one at a time, each key in order, and are committed", async () => {
  const topic = await createTopic("bounded", 2);
  const texts = Array.from({ length: 120 }, (_, index) => `${"abc"[index % 3]}${index}`);
  await send(topic, texts);
  const batches: string[][] = [];
  let atOnce = 0;
  consume(topic, async (batch) => {
    expect(++atOnce).toBe(1);
    await Promise.resolve();
    batches.push(batch);
    atOnce--;
  });
  await eventually(() => batches.flat().length === 120);
  expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(50);
  expect(batches.length).toBeLessThan(20);
  for (const key of ["a", "b", "c"])
    expect(batches.flat().filter((text) => text[0] === key)).toEqual(texts.filter((text) => text[0] === key));
  await eventually(
    async () => (await committed("batches", topic)).reduce((sum, each) => sum + Math.max(0, each), 0) === 120,
  );
});

test("a batch that fails is retried, and nothing of it is committed until it succeeds", async () => {
  const topic = await createTopic("failing");
  await send(topic, ["a1", "a2"]);
  const seen: string[][] = [];
  let broken = true;
  consume(topic, async (batch) => {
    seen.push(batch);
    if (broken) throw new Error("the store is unavailable");
  });
  await eventually(() => seen.length >= 2);
  expect(await committed("batches", topic)).toEqual([-1]);
  broken = false;
  await eventually(async () => (await committed("batches", topic))[0] === 2);
  expect(seen.at(-1)).toEqual(["a1", "a2"]);
});

test("a record of a batch that can never be processed goes to the dead letters", async () => {
  const topic = await createTopic("poison");
  await send(topic, ["a1", "bad", "c1"]);
  const done: string[] = [];
  consume(topic, async (batch) => {
    if (batch.includes("bad")) throw new PoisonRecordError("it contradicts itself");
    done.push(...batch);
  });
  await eventually(async () => (await committed("batches", topic))[0] === 3);
  expect(done.sort()).toEqual(["a1", "c1"]);
  expect(await read(deadLetterTopic(topic))).toHaveLength(1);
});

test("each record is dead-lettered or processed once, even if the rest of its batch is retried", async () => {
  const topic = await createTopic("aside-once");
  await send(topic, ["a1", UNDECODABLE, "bad", "c1", "d1"]);
  const done: string[] = [];
  let failures = 0;
  consume(topic, async (batch) => {
    if (batch.includes("bad")) throw new PoisonRecordError("it contradicts itself");
    if (batch.includes("c1") && ++failures <= 3) throw new Error("the store is unavailable");
    done.push(...batch);
  });
  await eventually(async () => (await committed("batches", topic))[0] === 5);
  expect(failures).toBe(4);
  expect(done).toEqual(["a1", "c1", "d1"]);
  const letters = await read(deadLetterTopic(topic));
  expect(letters.map(({ headers }) => headers["dead-letter-reason"]).sort()).toEqual(["impossible", "undecodable"]);
});
