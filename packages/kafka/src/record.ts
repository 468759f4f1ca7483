import type { KafkaMessage } from "kafkajs";

/** Headers as text; W3C trace context travels in them as `traceparent` and `tracestate`. */
export type RecordHeaders = Readonly<Record<string, string>>;

/** A record to send. Records of one key keep their order; a record without a key has the empty one. */
export interface ProducerRecord {
  /** Full name of the topic. */
  readonly topic: string;
  readonly key: string | Buffer;
  /** null only if a record without a value is passed on. */
  readonly value: Uint8Array | null;
  readonly headers?: RecordHeaders;
}

/** A record as it was read. */
export interface ConsumedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly key: Buffer;
  readonly value: Buffer | null;
  readonly headers: RecordHeaders;
  readonly timestamp: Date;
}

/** Converts the client library's form of a record. If a header comes several times, the last one counts. */
export function toConsumedRecord(topic: string, partition: number, message: KafkaMessage): ConsumedRecord {
  return {
    topic,
    partition,
    offset: BigInt(message.offset),
    key: message.key ?? Buffer.alloc(0),
    value: message.value,
    headers: toHeaders(message.headers),
    timestamp: new Date(Number(message.timestamp)),
  };
}

function toHeaders(headers: KafkaMessage["headers"]): RecordHeaders {
  const entries = Object.entries(headers ?? {}).flatMap(([name, value]) => {
    const last = Array.isArray(value) ? value.at(-1) : value;
    return last === undefined ? [] : [[name, last.toString()]];
  });
  return Object.fromEntries(entries);
}
