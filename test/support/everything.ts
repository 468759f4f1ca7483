import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "@vvs/testing";
import kafkajs from "kafkajs";
import { BSON, MongoClient } from "mongodb";

/** Where a run of the product leaves its data. */
export interface Run {
  readonly environment: Readonly<Record<string, string>>;
  readonly prefix: string;
}

/** Returns all records of a run's topics with keys and headers, as text. */
export async function everyRecord({ environment, prefix }: Run): Promise<string> {
  const kafka = new kafkajs.Kafka({
    brokers: environment.KAFKA_BROKERS!.split(","),
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const admin = kafka.admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(environment.KAFKA_TOPIC_PREFIX!));
  const ends = await Promise.all(topics.map((topic) => admin.fetchTopicOffsets(topic)));
  const expected = ends.flat().reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0);
  await admin.disconnect();
  const consumer = kafka.consumer({ groupId: `${prefix}everything` });
  const texts: string[] = [];
  await consumer.connect();
  await consumer.subscribe({ topics, fromBeginning: true });
  await consumer.run({
    async eachMessage({ message }) {
      const value = message.value ?? Buffer.alloc(0);
      texts.push([value.toString("latin1"), String(message.key), JSON.stringify(message.headers)].join("\n"));
    },
  });
  await eventually(() => texts.length >= expected);
  await consumer.disconnect();
  return texts.join("\n");
}

/** Returns all documents of a run's databases as text; binary values are also decoded as UTF-8. */
export async function everyDocument({ environment, prefix }: Run): Promise<string> {
  const client = new MongoClient(environment.MONGODB_URI!);
  const texts: string[] = [];
  const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
  for (const { name } of databases.filter((database) => database.name.startsWith(prefix))) {
    for (const { name: collection } of await client.db(name).listCollections({}, { nameOnly: true }).toArray()) {
      for await (const document of client.db(name).collection(collection).find({}, { promoteBuffers: true })) {
        texts.push(BSON.EJSON.stringify(document));
        for (const value of Object.values(document)) if (Buffer.isBuffer(value)) texts.push(value.toString("utf8"));
      }
    }
  }
  await client.close();
  return texts.join("\n");
}

/** Returns exported spans without their times, which have 19 digits: among so many, some contain those of a TIN by chance. */
export function withoutTimes(spans: string): string {
  return spans.replaceAll(/(?<=UnixNano":")\d+/g, "");
}

/** Returns the text of all log files of a folder, by file name. */
export function everyLog(logDir: string): Readonly<Record<string, string>> {
  return Object.fromEntries(readdirSync(logDir).map((file) => [file, readFileSync(join(logDir, file), "utf8")]));
}

/**
 * Returns the forms in which a secret text could appear: as written, in hex, and in base64 at each of its three
 * alignments. Compare them case-insensitively.
 */
export function formsOfText(text: string): string[] {
  const encoded = ["", "x", "xx"].map((before) => {
    const inBase64 = Buffer.from(before + text).toString("base64");
    return inBase64.slice(Math.ceil((before.length * 8) / 6), inBase64.length - 4);
  });
  return [text, Buffer.from(text).toString("hex"), ...encoded];
}
