import { eventually } from "@vvs/testing";
import kafkajs from "kafkajs";

export interface TopicRecord {
  readonly key: string;
  /** Empty if the record has none. */
  readonly value: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns all records that a topic has now, those of one partition in order. */
export async function recordsOf(options: { brokers: string[]; topic: string }): Promise<TopicRecord[]> {
  const { topic } = options;
  const kafka = new kafkajs.Kafka({ brokers: options.brokers, logLevel: kafkajs.logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  // A broker that has just started again refuses this until its partitions have leaders, which KafkaJS does not repeat.
  const read = () =>
    admin.fetchTopicOffsets(topic).catch((error) => {
      if (!error.retriable) throw error;
      return null;
    });
  const offsets = await eventually(read).finally(() => admin.disconnect());
  const left = new Map(offsets.map(({ partition, high, low }) => [partition, Number(high) - Number(low)]));
  const records: TopicRecord[] = [];
  const all = Promise.withResolvers<void>();
  const settle = () => [...left.values()].every((count) => count <= 0) && all.resolve();
  const consumer = kafka.consumer({ groupId: `reads-${topic}-${crypto.randomUUID()}`, maxWaitTimeInMs: 100 });
  await consumer.connect();
  try {
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ partition, message }) => {
        const headers = Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)]);
        records.push({
          key: String(message.key),
          value: message.value ?? Buffer.alloc(0),
          headers: Object.fromEntries(headers),
        });
        left.set(partition, left.get(partition)! - 1);
        settle();
      },
    });
    settle();
    await all.promise;
  } finally {
    await consumer.disconnect();
  }
  return records;
}
