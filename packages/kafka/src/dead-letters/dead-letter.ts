import type { ConsumedRecord, ProducerRecord } from "../record.ts";
import { deadLetterTopic } from "../topics.ts";

/** undecodable: the bytes are not the topic's message. impossible: the handler says it can never be processed. */
export type DeadLetterReason = "undecodable" | "impossible";

const PREFIX = "dead-letter-";
const REDRIVEN = "redriven";
const MAX_DETAIL_CHARACTERS = 500;

/** Returns the record to send to the dead-letter topic: unchanged, with headers for the reason and its origin. */
export function toDeadLetter(
  record: ConsumedRecord,
  fault: { reason: DeadLetterReason; detail: string; groupId: string },
): ProducerRecord {
  return {
    topic: deadLetterTopic(record.topic),
    key: record.key,
    value: record.value,
    headers: {
      ...record.headers,
      [`${PREFIX}reason`]: fault.reason,
      [`${PREFIX}detail`]: fault.detail.slice(0, MAX_DETAIL_CHARACTERS),
      [`${PREFIX}group`]: fault.groupId,
      [`${PREFIX}topic`]: record.topic,
      [`${PREFIX}partition`]: String(record.partition),
      [`${PREFIX}offset`]: String(record.offset),
      [`${PREFIX}timestamp`]: record.timestamp.toISOString(),
    },
  };
}

/** Returns the record to send back to its topic: as it was at first, with a header that counts its returns. */
export function fromDeadLetter(record: ConsumedRecord, topic: string): ProducerRecord {
  const headers = Object.fromEntries(Object.entries(record.headers).filter(([name]) => !name.startsWith(PREFIX)));
  const times = Number(headers[REDRIVEN] ?? 0) + 1;
  return { topic, key: record.key, value: record.value, headers: { ...headers, [REDRIVEN]: String(times) } };
}
