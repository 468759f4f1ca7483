import { expect, test } from "@jest/globals";
import { MAX_RECORD_BYTES, requestsOf } from "./producer.ts";
import { testKafka } from "./testing.ts";

const { kafka, createTopic, read } = testKafka();

const record = (topic: string, key: string, text: string) => ({ topic, key, value: Buffer.from(text) });

test("records of a key arrive in the order they were sent, with their headers, even from concurrent sends", async () => {
  const topic = await createTopic("order", 3);
  const producer = kafka.producer();
  const sends = Array.from({ length: 20 }, (_, send) =>
    producer.send([
      { ...record(topic, "a", `${send}.1`), headers: { "record-id": `r${send}` } },
      record(topic, "b", `${send}.1`),
      record(topic, "a", `${send}.2`),
    ]),
  );
  await Promise.all(sends);
  await producer.close();
  const ofA = (await read(topic)).filter(({ key }) => key.toString() === "a");
  expect(ofA.map(({ value }) => String(value))).toEqual(
    Array.from({ length: 20 }, (_, send) => [`${send}.1`, `${send}.2`]).flat(),
  );
  expect(ofA[6]!.headers["record-id"]).toBe("r3");
});

test("records that need no order go to one partition a send, and to all partitions in turn", async () => {
  const topic = await createTopic("any-order", 3);
  const producer = kafka.producer();
  for (const send of ["1", "2", "3"]) {
    const keys = Array.from({ length: 10 }, (_, index) => `k${send}${index}`);
    await producer.send(
      keys.map((key) => record(topic, key, send)),
      { anyOrder: true },
    );
  }
  await producer.close();
  const partitions = Map.groupBy(await read(topic), ({ partition }) => partition);
  const sends = [...partitions.values()].map((records) => records.map(({ value }) => String(value)));
  expect(sends.toSorted()).toEqual(["1", "2", "3"].map((send) => Array(10).fill(send)));
});

test("a send that Kafka refuses throws, and the next one arrives", async () => {
  const topic = await createTopic("refused");
  const producer = kafka.producer();
  await expect(producer.send([record(`${topic}.absent`, "a", "lost")])).rejects.toThrow("could not be sent");
  await producer.send([record(topic, "a", "kept")]);
  await producer.close();
  expect((await read(topic)).map(({ value }) => String(value))).toEqual(["kept"]);
});

test("records are split into requests by size, and one that no broker accepts is refused before anything is sent", () => {
  const large = { topic: "t", key: "k", value: Buffer.alloc(400_000) };
  expect(requestsOf([large, large, large]).map((request) => request.length)).toEqual([2, 1]);
  expect(requestsOf(Array.from({ length: 1_001 }, () => record("t", "k", "v"))).map(({ length }) => length)).toEqual([
    500, 500, 1,
  ]);
  expect(() => requestsOf([{ ...large, value: Buffer.alloc(MAX_RECORD_BYTES) }])).toThrow("over the limit");
});

test("a closed producer sends nothing more, and its earlier sends arrive", async () => {
  const topic = await createTopic("closed");
  const producer = kafka.producer();
  const last = producer.send([record(topic, "a", "last")]);
  await Promise.all([last, producer.close()]);
  await expect(producer.send([record(topic, "a", "late")])).rejects.toThrow("closed");
  expect(await read(topic)).toHaveLength(1);
});
