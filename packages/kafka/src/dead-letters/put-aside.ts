import type { Logger } from "@vvs/logging";
import type { Producer } from "../producer.ts";
import type { ConsumedRecord } from "../record.ts";
import { attributes, type Instruments } from "../telemetry.ts";
import { type DeadLetterReason, toDeadLetter } from "./dead-letter.ts";

/** Sends a record to its dead-letter topic, counts and logs it. Errors: Kafka did not accept it. */
export type PutAside = (record: ConsumedRecord, reason: DeadLetterReason, error: Error) => Promise<void>;

export function createPutAside(options: {
  groupId: string;
  producer: Pick<Producer, "send">;
  instruments: Instruments;
  logger: Logger;
}): PutAside {
  const { groupId, producer, instruments, logger } = options;
  return async (record, reason, error) => {
    await producer.send([toDeadLetter(record, { reason, detail: error.message, groupId })]);
    instruments.deadLetters.add(1, {
      [attributes.destination]: record.topic,
      [attributes.consumerGroup]: groupId,
      reason,
    });
    const { topic, partition, offset } = record;
    logger.error({ err: error, topic, partition, offset: String(offset), reason }, "a record went to the dead letters");
  };
}
