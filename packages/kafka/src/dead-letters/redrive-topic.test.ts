import { StringValueSchema } from "@bufbuild/protobuf/wkt";
import { expect, jest, test } from "@jest/globals";
import { eventually, silentLogger as logger } from "@vvs/testing";
import kafkajs from "kafkajs";
import { testKafka } from "../testing.ts";
import { deadLetterTopic } from "../topics.ts";
import { redriveTopic } from "./redrive-topic.ts";

const { kafka, prefix, createTopic, read } = testKafka();

async function send(topic: string, ...keys: string[]): Promise<void> {
  const producer = kafka.producer();
  await producer.send(
    keys.map((key) => ({ topic, key, value: Uint8Array.of(0xff), headers: { "record-id": `of ${key}` } })),
  );
  await producer.close();
}

/** Consumes a topic of undecodable records until the given number of dead letters exists. */
async function putAside(topic: string, total: number): Promise<void> {
  const subscriptions = [{ topic, schema: StringValueSchema, handle: async () => undefined }];
  const consumer = kafka.runConsumer({ groupId: topic, subscriptions, concurrency: 1, logger });
  await eventually(async () => (await read(deadLetterTopic(topic))).length === total);
  await consumer.stop();
}

test("dead letters go back to their topic once, with their original key and headers and a count", async () => {
  const topic = await createTopic("redrive");
  await send(topic, "a", "b");
  await putAside(topic, 2);

  expect(await kafka.redrive(topic)).toBe(2);
  expect(await kafka.redrive(topic)).toBe(0);
  const back = (await read(topic)).slice(2);
  expect(back.map(({ key }) => key.toString())).toEqual(["a", "b"]);
  expect(back[0]!.headers).toEqual({ "record-id": "of a", redriven: "1" });

  await putAside(topic, 4);
  expect(await kafka.redrive(topic)).toBe(2);
  expect((await read(topic)).at(-1)!.headers).toEqual({ "record-id": "of b", redriven: "2" });
});

test("a redrive ends where another one sends meanwhile what it has found", async () => {
  const topic = await createTopic("redriven-by-another");
  await send(topic, "a");
  await putAside(topic, 1);
  const library = new kafkajs.Kafka({ brokers: process.env.KAFKA_BROKERS!.split(","), logCreator: () => () => {} });
  const create = library.admin.bind(library);
  jest.spyOn(library, "admin").mockImplementationOnce(() => {
    const admin = create();
    const disconnect = () => admin.disconnect().then(async () => expect(await kafka.redrive(topic)).toBe(1));
    return { ...admin, disconnect };
  });
  expect(await redriveTopic({ library, producer: kafka.producer(), groupPrefix: prefix, topic })).toBe(0);
});

test("without dead letters nothing is redriven", async () => {
  expect(await kafka.redrive(await createTopic("nothing"))).toBe(0);
});
