import { type StringValue, StringValueSchema } from "@bufbuild/protobuf/wkt";
import { afterEach, expect, test } from "@jest/globals";
import { eventually, silentLogger as logger } from "@vvs/testing";
import { PoisonRecordError } from "../errors.ts";
import { testKafka } from "../testing.ts";
import { deadLetterTopic } from "../topics.ts";
import type { RunningConsumer } from "./consumer.ts";

const { kafka, prefix, createTopic, send, read, committed } = testKafka();
const running: RunningConsumer[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((consumer) => consumer.stop()));
});

type Handle = (text: string) => Promise<void> | void;

function consume(groupId: string, topics: string | string[], handle: Handle, concurrency = 10): RunningConsumer {
  const consumer = kafka.runConsumer({
    groupId,
    concurrency,
    logger,
    subscriptions: [topics].flat().map((topic) => ({
      topic,
      schema: StringValueSchema,
      handle: async (message) => handle((message as StringValue).value),
    })),
  });
  running.push(consumer);
  return consumer;
}

async function sendBytes(topic: string, key: string, bytes: number[]): Promise<void> {
  const producer = kafka.producer();
  await producer.send([{ topic, key, value: Uint8Array.from(bytes), headers: { "record-id": "r1" } }]);
  await producer.close();
}

test("an undecodable record goes to the dead letters unchanged, with the reason, and blocks nothing", async () => {
  const topic = await createTopic("undecodable");
  await sendBytes(topic, "a", [0xff, 0xff]);
  await send(topic, "a2");
  const seen: string[] = [];
  consume("undecodable", topic, (text) => void seen.push(text));
  await eventually(async () => (await committed("undecodable", topic))[0] === 2);
  expect(seen).toEqual(["a2"]);
  const [letter, ...others] = await read(deadLetterTopic(topic));
  expect(others).toEqual([]);
  expect([...letter!.value!]).toEqual([0xff, 0xff]);
  expect(letter!.key.toString()).toBe("a");
  expect(letter!.headers).toMatchObject({
    "record-id": "r1",
    "dead-letter-reason": "undecodable",
    "dead-letter-topic": topic,
    "dead-letter-partition": "0",
    "dead-letter-offset": "0",
    "dead-letter-group": `${prefix}undecodable`,
  });
  expect(letter!.headers["dead-letter-timestamp"]).toMatch(/^20\d\d-.*Z$/);
});

test("a record that its handler rejects as impossible goes to the dead letters after one attempt", async () => {
  const topic = await createTopic("impossible");
  await send(topic, "a-bad", "a-good");
  const seen: string[] = [];
  consume("impossible", topic, (text) => {
    seen.push(text);
    if (text === "a-bad") throw new PoisonRecordError("names nobody");
  });
  await eventually(async () => (await committed("impossible", topic))[0] === 2);
  expect(seen).toEqual(["a-bad", "a-good"]);
  const [letter] = await read(deadLetterTopic(topic));
  expect(letter!.headers).toMatchObject({ "dead-letter-reason": "impossible", "dead-letter-detail": "names nobody" });
});

test("a record is retried while a dependency is unavailable; it takes no place of others, and nothing is skipped or committed past it", async () => {
  const topic = await createTopic("unavailable");
  await send(topic, "a1", "a2", "b1");
  let isUnavailable = true;
  const done: string[] = [];
  let attempts = 0;
  const handle = (text: string) => {
    if (text === "a1") attempts++;
    if (isUnavailable && text.startsWith("a")) throw new Error("the database is unavailable");
    done.push(text);
  };
  consume("unavailable", topic, handle, 1);
  await eventually(() => attempts === 3 && done.length === 1);
  expect(done).toEqual(["b1"]);
  expect((await committed("unavailable", topic))[0]).toBe(-1);
  isUnavailable = false;
  await eventually(async () => (await committed("unavailable", topic))[0] === 3);
  expect(done).toEqual(["b1", "a1", "a2"]);
});

test("records of one key are processed in order, while those of other keys continue", async () => {
  const topic = await createTopic("keys");
  await send(topic, "a1", "a2", "b1", "a3", "b2");
  const gate = Promise.withResolvers<void>();
  const seen: string[] = [];
  consume("keys", topic, async (text) => {
    if (text === "a1") await gate.promise;
    seen.push(text);
  });
  await eventually(() => seen.length === 2);
  expect(seen).toEqual(["b1", "b2"]);
  gate.resolve();
  await eventually(() => seen.length === 5);
  expect(seen).toEqual(["b1", "b2", "a1", "a2", "a3"]);
});

test("no more records are processed concurrently than allowed", async () => {
  const topic = await createTopic("concurrency");
  await send(topic, "a", "b", "c", "d", "e", "f");
  let now = 0;
  let most = 0;
  let done = 0;
  const handle = async () => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setTimeout(resolve, 10));
    now--;
    done++;
  };
  consume("concurrency", topic, handle, 2);
  await eventually(() => done === 6);
  expect(most).toBe(2);
});

test("stop lets running handlers finish and commits their records; the rest is left for the next consumer", async () => {
  const topic = await createTopic("drain");
  await send(topic, "a1", "a2");
  const gate = Promise.withResolvers<void>();
  const seen: string[] = [];
  const first = consume("drain", topic, async (text) => {
    seen.push(text);
    await gate.promise;
  });
  await eventually(() => seen.length === 1);
  const stopped = first.stop();
  gate.resolve();
  await stopped;
  expect((await committed("drain", topic))[0]).toBe(1);
  const later: string[] = [];
  consume("drain", topic, (text) => void later.push(text));
  await eventually(() => later.length === 1);
  expect([...seen, ...later]).toEqual(["a1", "a2"]);
});

test("stop does not wait for an unavailable dependency", async () => {
  const topic = await createTopic("stop-retrying");
  await send(topic, "a1");
  const tried = Promise.withResolvers<void>();
  const consumer = consume("stop-retrying", topic, () => {
    tried.resolve();
    throw new Error("unavailable");
  });
  await tried.promise;
  await consumer.stop();
  expect((await committed("stop-retrying", topic))[0]).toBe(-1);
});

test("two consumers share a topic, and when one leaves, the other takes over its partitions", async () => {
  const topic = await createTopic("share", 4);
  const letters = [..."abcdefghijklmnop"];
  const seen = { one: new Set<number>(), two: new Set<number>() };
  const texts: string[] = [];
  await send(topic, ...letters);
  const partitions = new Map((await read(topic)).map(({ key, partition }) => [key.toString(), partition]));
  const takeAs = (who: "one" | "two") => (text: string) => {
    seen[who].add(partitions.get(text)!);
    texts.push(text);
  };
  await consume("share", topic, takeAs("one")).ready;
  const two = consume("share", topic, takeAs("two"));
  await two.ready;
  await eventually(async () => {
    seen.one.clear();
    seen.two.clear();
    texts.length = 0;
    await send(topic, ...letters);
    await eventually(() => new Set(texts).size === letters.length);
    return seen.one.size === 2 && seen.two.size === 2;
  });
  await two.stop();
  seen.one.clear();
  texts.length = 0;
  await send(topic, ...letters);
  await eventually(() => new Set(texts).size === letters.length);
  expect([...seen.one].sort()).toEqual([0, 1, 2, 3]);
});

test("records of a topic that only newer consumers of a group read wait for one of them, in a rollout and after a rollback", async () => {
  const known = await createTopic("known", 4);
  const added = await createTopic("added", 4);
  const seen: string[] = [];
  let current: RunningConsumer | undefined;
  async function replaceBy(version: string, topics: string[]): Promise<void> {
    const before = current;
    current = consume("rollout", topics, (text) => void seen.push(`${version} ${text}`));
    await current.ready;
    await before?.stop();
  }
  await replaceBy("older", [known]);
  await send(added, "a", "b", "c");
  await replaceBy("newer", [known, added]);
  await eventually(() => seen.length === 3);
  await replaceBy("older", [known]);
  await send(added, "d", "e", "f");
  await send(known, "g");
  await eventually(() => seen.length === 4);
  await replaceBy("newer", [known, added]);
  await eventually(() => seen.length === 7);
  const newer = [..."abcdef"].map((text) => `newer ${text}`);
  expect(seen.toSorted()).toEqual([...newer, "older g"]);
});

test("a record in progress is not started again by the same consumer when another one joins", async () => {
  const topic = await createTopic("join", 2);
  const gate = Promise.withResolvers<void>();
  const begun: string[] = [];
  await send(topic, "a", "b", "c", "d");
  await consume("join", topic, async (text) => {
    begun.push(text);
    await gate.promise;
  }).ready;
  await eventually(() => begun.length === 4);
  const taken: string[] = [];
  await consume("join", topic, (text) => void taken.push(text)).ready;
  await eventually(() => taken.length > 0);
  gate.resolve();
  await eventually(async () => (await committed("join", topic)).reduce((sum, offset) => sum + offset, 0) === 4);
  expect(begun.sort()).toEqual(["a", "b", "c", "d"]);
});

test("a key with a long queue behind a slow record pauses, then continues in order", async () => {
  const topic = await createTopic("queue");
  const texts = Array.from({ length: 1_000 }, (_, number) => `a${number}`);
  await send(topic, ...texts);
  const gate = Promise.withResolvers<void>();
  const seen: string[] = [];
  consume("queue", topic, async (text) => {
    seen.push(text);
    if (text === "a0") await gate.promise;
  });
  await eventually(() => seen.length === 1);
  gate.resolve();
  await eventually(async () => (await committed("queue", topic))[0] === 1_000);
  expect(seen).toEqual(texts);
});

test("a consumer waits for a topic that does not exist yet", async () => {
  const seen: string[] = [];
  const consumer = consume("early", `${prefix}early`, (text) => void seen.push(text));
  const topic = await createTopic("early");
  await send(topic, "a");
  await consumer.ready;
  await eventually(() => seen.length === 1);
});
