import { fromBinary } from "@bufbuild/protobuf";
import { VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import kafkajs from "kafkajs";

/** Times at which the records of verifications were read from Kafka. */
export interface Arrivals {
  /** By verification id, in milliseconds of performance.now(). */
  readonly at: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** Reads the new records of a topic. Resolves once the consumer has joined its group. */
export async function watchArrivals(options: { brokers: string[]; topic: string; groupId: string }): Promise<Arrivals> {
  const kafka = new kafkajs.Kafka({ brokers: options.brokers, logLevel: kafkajs.logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: options.groupId });
  const at = new Map<string, number>();
  await consumer.connect();
  await consumer.subscribe({ topic: options.topic });
  const joined = new Promise<void>((resolve) => {
    consumer.on(consumer.events.FETCH_START, () => resolve());
  });
  await consumer.run({
    autoCommit: false,
    eachBatch: async ({ batch }) => {
      const now = performance.now();
      for (const { value } of batch.messages)
        at.set(fromBinary(VerificationCompletedSchema, value!).verificationId, now);
    },
  });
  await joined;
  return { at, close: () => consumer.disconnect() };
}
