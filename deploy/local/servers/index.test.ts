import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import kafkajs from "kafkajs";
import { type Collection, MongoClient } from "mongodb";
import { serverCacheDir, startServers } from "./index.ts";
import { pingRedis } from "./redis.ts";

test("the MongoDB of a run supports transactions", async () => {
  const client = new MongoClient(process.env.MONGODB_URI ?? "");
  const db = client.db(`servers_${crypto.randomUUID().slice(0, 8)}`);
  await db.createCollection("facts");
  await client.withSession((session) =>
    session.withTransaction(async () => {
      await db.collection("facts").insertOne({ a: 1 }, { session });
    }),
  );
  expect(await db.collection("facts").countDocuments()).toBe(1);
  await db.dropDatabase();
  await client.close();
});

test("the Kafka of a run creates no topic by itself", async () => {
  const brokers = (process.env.KAFKA_BROKERS ?? "").split(",");
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  const topics = [`servers-${crypto.randomUUID()}`];
  await expect(admin.fetchTopicMetadata({ topics })).rejects.toThrow();
  await admin.disconnect();
});

test("the Redis of a run answers", async () => {
  await pingRedis(process.env.REDIS_URL ?? "", 5_000);
});

const whereStartable = process.env.TEST_SERVERS === "started" ? test : test.skip;

whereStartable("a later run finds the data of an earlier one, with other ports", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "servers-"));
  const start = () => startServers({ dataDir, cacheDir: serverCacheDir(process.env), log: () => {}, env: {} });
  const topic = "kept";

  const first = await start();
  await withMongo(first.mongodbUri, (facts) => facts.insertOne({ kept: true }));
  await withKafka(first.kafkaBrokers, (admin) => admin.createTopics({ topics: [{ topic }], waitForLeaders: true }));
  await first.stop();

  const second = await start();
  expect(await withMongo(second.mongodbUri, (facts) => facts.countDocuments({ kept: true }))).toBe(1);
  expect(await withKafka(second.kafkaBrokers, (admin) => admin.listTopics())).toContain(topic);
  expect(second).not.toMatchObject({ mongodbUri: first.mongodbUri });
  await second.stop();
  await rm(dataDir, { recursive: true });
});

async function withMongo<T>(uri: string, work: (facts: Collection) => Promise<T>): Promise<T> {
  const client = new MongoClient(uri);
  try {
    return await work(client.db("kept").collection("facts"));
  } finally {
    await client.close();
  }
}

async function withKafka<T>(brokers: string[], work: (admin: kafkajs.Admin) => Promise<T>): Promise<T> {
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}
