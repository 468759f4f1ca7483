import { type Attributes, context } from "@opentelemetry/api";
import type { Kafka as Library, Producer as LibraryProducer, Message } from "kafkajs";
import kafkajs from "kafkajs";
import type { ProducerRecord } from "./record.ts";
import { attributes, failSpan, type Instruments, sendAttributes, startSendSpan, traceHeaders } from "./telemetry.ts";

/** Less than the brokers' message.max.bytes (1 MiB by default), since headers and framing need room too. */
const MAX_REQUEST_BYTES = 900_000;
const MAX_REQUEST_RECORDS = 500;
/** Maximum size of a record's key, value and headers together. Larger records are refused before they are sent. */
export const MAX_RECORD_BYTES = MAX_REQUEST_BYTES;
/** About three seconds, so that the caller soon learns that Kafka is unavailable, and decides whether to try again. */
const RETRY = { retries: 4, initialRetryTime: 200, maxRetryTime: 2_000 };

export type Producer = ReturnType<typeof createProducer>;

/**
 * Creates a producer that sends records, one request at a time, and waits until all in-sync replicas have confirmed them. The
 * client library reuses a failed batch's sequence numbers for the next batch, and a broker that had stored the first one drops
 * the second one as a repetition. So after a failure whose outcome is unknown, the next send begins with a new producer id.
 */
export function createProducer(options: { library: Library; instruments: Instruments }) {
  const { library, instruments } = options;
  let connection: Promise<LibraryProducer> | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  let closed = false;
  /** Number of sends in any order, from a random one on: producers must not all begin with the same partition. */
  let unordered = Math.floor(Math.random() * 1_000);

  async function discard(): Promise<void> {
    const discarded = connection;
    connection = undefined;
    await discarded?.then((producer) => producer.disconnect()).catch(() => undefined);
  }

  async function request(records: readonly ProducerRecord[], partition?: number): Promise<void> {
    const byTopic = [...Map.groupBy(records, ({ topic }) => topic)];
    const spans = byTopic.map(([topic, ofTopic]) => startSendSpan(topic, ofTopic));
    const topicMessages = byTopic.map(([topic, ofTopic]) => ({
      topic,
      messages: ofTopic.map((each) => toMessage(each, partition)),
    }));
    const count = (outcome?: Attributes) => {
      for (const [topic, { length }] of byTopic) instruments.sent.add(length, { ...sendAttributes(topic), ...outcome });
    };
    try {
      connection ??= open(library);
      const producer = await connection;
      await producer.sendBatch({ acks: -1, topicMessages });
      count();
    } catch (cause) {
      count({ [attributes.errorType]: spans.map((span) => failSpan(span, cause))[0]! });
      await discard();
      throw new Error("records could not be sent to Kafka", { cause });
    } finally {
      for (const span of spans) span.end();
    }
  }

  return {
    /**
     * Sends records; those of one key arrive in the given order, also when they are sent at different times. With `anyOrder`
     * those of one call go to one partition, another one each time: brokers and consumers handle one batch instead of one for
     * each partition. Resolves when all are confirmed. Errors: some records may have arrived and others not. Send all of them
     * again (the consumers are idempotent).
     */
    send(records: readonly ProducerRecord[], { anyOrder = false } = {}): Promise<void> {
      const sent = queue.then(async () => {
        if (closed) throw new Error("the producer is closed");
        for (const part of requestsOf(records)) await request(part, anyOrder ? unordered++ : undefined);
      });
      queue = sent.catch(() => undefined);
      return sent;
    },
    /** Waits for running sends, then disconnects; later sends are refused. */
    async close(): Promise<void> {
      const last = queue;
      queue = last.then(() => {
        closed = true;
      });
      await queue;
      await discard();
    },
  };
}

async function open(library: Library): Promise<LibraryProducer> {
  const producer = library.producer({
    idempotent: true,
    allowAutoTopicCreation: false,
    createPartitioner() {
      const byKey = kafkajs.Partitioners.DefaultPartitioner();
      return (call) => {
        const { message, partitionMetadata } = call;
        // Only here the number of partitions is known.
        return message.partition === undefined ? byKey(call) : message.partition % partitionMetadata.length;
      };
    },
    retry: RETRY,
  });
  await producer.connect();
  return producer;
}

function toMessage({ key, value, headers }: ProducerRecord, partition: number | undefined): Message {
  return {
    key,
    partition,
    value: value && Buffer.from(value.buffer, value.byteOffset, value.byteLength),
    headers: { ...traceHeaders(context.active()), ...headers },
  };
}

/** Splits records into requests that brokers accept. Errors: a record is too large for any request. */
export function requestsOf(records: readonly ProducerRecord[]): ProducerRecord[][] {
  const requests: ProducerRecord[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const size = recordBytes(record);
    if (size > MAX_RECORD_BYTES) throw new Error(`a record for ${record.topic} has ${size} bytes, over the limit`);
    if (bytes + size > MAX_REQUEST_BYTES || requests.at(-1)!.length >= MAX_REQUEST_RECORDS) {
      requests.push([]);
      bytes = 0;
    }
    requests.at(-1)!.push(record);
    bytes += size;
  }
  return requests;
}

/** Returns the size of a record's key, value and headers in bytes. */
export function recordBytes(record: Pick<ProducerRecord, "key" | "value" | "headers">): number {
  const headers = Object.entries(record.headers ?? {}).flat();
  const texts = [record.key, ...headers].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return texts + (record.value?.byteLength ?? 0);
}
