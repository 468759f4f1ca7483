import type { Admin, Batch, Consumer, Kafka as Library } from "kafkajs";
import type { Producer } from "../producer.ts";
import { toConsumedRecord } from "../record.ts";
import { deadLetterTopic } from "../topics.ts";
import { fromDeadLetter } from "./dead-letter.ts";

/** How often it is looked whether another redrive has sent the rest, in milliseconds. */
const LOOK_MS = 2_000;

/**
 * Sends the dead letters of a topic back to the topic: those that are there at the start and were not sent by an
 * earlier redrive, or one at the same time. Returns how many. Errors: Kafka is unavailable; letters sent before that are not sent again by the
 * next redrive.
 */
export async function redriveTopic(options: {
  library: Library;
  producer: Producer;
  groupPrefix: string;
  topic: string;
}): Promise<number> {
  const { library, producer, topic } = options;
  const source = deadLetterTopic(topic);
  const groupId = `${options.groupPrefix}redrive.${source}`;
  const left = () => remaining(library, source, groupId);
  const ends = await left();
  if (ends.size === 0) return 0;

  const consumer = library.consumer({ groupId, maxWaitTimeInMs: 500, allowAutoTopicCreation: false });
  let sent = 0;
  try {
    await eachBatchUntil({ consumer, topic: source, ends, left }, async (batch, end) => {
      const letters = batch.messages
        .map((message) => toConsumedRecord(source, batch.partition, message))
        .filter(({ offset }) => offset < end);
      if (letters.length === 0) return;
      await producer.send(letters.map((letter) => fromDeadLetter(letter, topic)));
      const offset = String(letters.at(-1)!.offset + 1n);
      await consumer.commitOffsets([{ topic: source, partition: batch.partition, offset }]);
      sent += letters.length;
    });
  } finally {
    await consumer.disconnect();
    await producer.close();
  }
  return sent;
}

/** Returns partition → end of its log, for partitions with records that were not sent yet. */
async function remaining(library: Library, source: string, groupId: string): Promise<Map<number, bigint>> {
  const admin: Admin = library.admin();
  await admin.connect();
  try {
    const [committed] = await admin.fetchOffsets({ groupId, topics: [source] });
    const done = new Map(committed?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]));
    const log = await admin.fetchTopicOffsets(source);
    const unsent = log.filter(({ partition, low, high }) => {
      const from = done.get(partition) ?? -1n;
      return BigInt(high) > (from > BigInt(low) ? from : BigInt(low));
    });
    return new Map(unsent.map(({ partition, high }) => [partition, BigInt(high)]));
  } finally {
    await admin.disconnect();
  }
}

/** Reads each partition up to its end, or until nothing of it is left. Errors: those of `take`, `left` or of the consumer. */
async function eachBatchUntil(
  options: { consumer: Consumer; topic: string; ends: Map<number, bigint>; left: () => Promise<Map<number, bigint>> },
  take: (batch: Batch, end: bigint) => Promise<void>,
): Promise<void> {
  const { consumer, topic, ends, left } = options;
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  const open = new Map(ends);
  const finish = (partition: number) => {
    open.delete(partition);
    if (open.size === 0) resolve();
  };
  consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatch: async ({ batch }) => {
      const end = open.get(batch.partition);
      if (end === undefined) return;
      try {
        await take(batch, end);
      } catch (error) {
        reject(error);
        return;
      }
      if (BigInt(batch.lastOffset()) + 1n >= end) finish(batch.partition);
    },
  });
  // What another redrive sends never comes here.
  const looking = setInterval(async () => {
    // Where this fails, the next look may not.
    const unsent = await left().catch(() => ends);
    for (const partition of open.keys()) if (!unsent.has(partition)) finish(partition);
  }, LOOK_MS);
  await done.finally(() => clearInterval(looking));
}
