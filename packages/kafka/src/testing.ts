import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { StringValueSchema } from "@bufbuild/protobuf/wkt";
import { atEnd, eventually, silentLogger as logger } from "@vvs/testing";
import kafkajs from "kafkajs";
import { createKafka } from "./client.ts";
import { type ConsumedRecord, toConsumedRecord } from "./record.ts";
import { deadLetterTopic, type TopicSpec } from "./topics.ts";

// For tests of this package and of services on a real broker.

/** Creates a client whose topics and groups belong only to this test. The topics exist until the tests of the file are over. */
export function testKafka() {
  const prefix = `test-${randomBytes(5).toString("hex")}.`;
  const brokers = process.env.KAFKA_BROKERS!.split(",");
  const kafka = createKafka({ brokers, clientId: "test", logger, topicPrefix: prefix });
  const library = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING });
  const admin = library.admin();
  const created = new Set<string>();
  atEnd(async () => {
    if (created.size > 0) await admin.deleteTopics({ topics: [...created] });
    await admin.disconnect();
  });

  /** Returns all records of a topic, those of one partition in order. */
  async function read(topic: string): Promise<ConsumedRecord[]> {
    const log = await admin.fetchTopicOffsets(topic);
    const missing = new Map(log.map(({ partition, high, low }) => [partition, Number(high) - Number(low)]));
    const records: ConsumedRecord[] = [];
    const consumer = library.consumer({
      groupId: `${prefix}read.${randomBytes(5).toString("hex")}`,
      maxWaitTimeInMs: 50,
    });
    await consumer.connect();
    try {
      await consumer.subscribe({ topics: [topic], fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachMessage: async ({ partition, message }) => {
          records.push(toConsumedRecord(topic, partition, message));
          missing.set(partition, missing.get(partition)! - 1);
        },
      });
      await eventually(() => [...missing.values()].every((count) => count <= 0));
    } finally {
      await consumer.disconnect();
    }
    return records.sort((a, b) => a.partition - b.partition || Number(a.offset - b.offset));
  }

  return {
    kafka,
    /** Prefix of topics and groups, different in each test. */
    prefix,
    read,
    /** Sends texts as records with a StringValue, each with its first letter as the key. */
    async send(topic: string, ...texts: string[]): Promise<void> {
      const producer = kafka.producer();
      const encoded = (value: string) => toBinary(StringValueSchema, create(StringValueSchema, { value }));
      await producer.send(texts.map((text) => ({ topic, key: text[0]!, value: encoded(text) })));
      await producer.close();
    },
    /** Creates a topic with its dead-letter topic; returns its full name. */
    async createTopic(name: string, partitions = 1): Promise<string> {
      const topic = `${prefix}${name}`;
      const spec: TopicSpec = { topic, partitions, retentionMs: 3_600_000, maxRecordBytes: 1_048_588 };
      await kafka.ensureTopics([spec, { ...spec, topic: deadLetterTopic(topic), partitions: 1 }]);
      created.add(topic).add(deadLetterTopic(topic));
      return topic;
    },
    /**
     * Returns for each partition the next offset that the group (named without the prefix) will read; -1 before its first
     * commit.
     */
    async committed(groupId: string, topic: string): Promise<number[]> {
      const wanted = { groupId: `${prefix}${groupId}`, topics: [topic] };
      let found: Awaited<ReturnType<typeof admin.fetchOffsets>> | undefined;
      // A broker that has just started answers that its groups are being loaded.
      while (!found) {
        found = await admin.fetchOffsets(wanted).catch((error: { retriable?: boolean }) => {
          if (!error.retriable) throw error;
          return wait(20).then(() => undefined);
        });
      }
      return found[0]!.partitions.sort((a, b) => a.partition - b.partition).map(({ offset }) => Number(offset));
    },
  };
}
