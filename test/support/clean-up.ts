import { Redis } from "ioredis";
import kafkajs from "kafkajs";
import { MongoClient } from "mongodb";

/** Removes what a run with this prefix left on shared servers: databases, topics, keys. */
export async function dropRun(environment: Readonly<Record<string, string>>, prefix: string): Promise<void> {
  await Promise.all([
    dropDatabases(environment, prefix),
    dropTopics(environment, prefix),
    dropKeys(environment, prefix),
  ]);
}

async function dropDatabases({ MONGODB_URI }: Readonly<Record<string, string>>, prefix: string): Promise<void> {
  const client = new MongoClient(MONGODB_URI!);
  const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
  for (const { name } of databases) if (name.startsWith(prefix)) await client.db(name).dropDatabase();
  await client.close();
}

async function dropTopics({ KAFKA_BROKERS }: Readonly<Record<string, string>>, prefix: string): Promise<void> {
  const kafka = new kafkajs.Kafka({ brokers: KAFKA_BROKERS!.split(","), logLevel: kafkajs.logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
  if (topics.length > 0) await admin.deleteTopics({ topics });
  await admin.disconnect();
}

/** A run without the gateway has no Redis. */
async function dropKeys({ REDIS_URL }: Readonly<Record<string, string>>, prefix: string): Promise<void> {
  if (REDIS_URL === undefined) return;
  const redis = new Redis(REDIS_URL);
  const keys = await redis.keys(`${prefix}*`);
  if (keys.length > 0) await redis.del(...keys);
  await redis.quit();
}
