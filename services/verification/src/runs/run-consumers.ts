import { type Kafka, type RunningConsumer, subscription, topicNames } from "@vvs/kafka";
import type { Logger } from "@vvs/logging";
import { type VerificationRequested, VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import type { Environment } from "@vvs/tenant";

/** Maximum numbers of monitors' runs of one environment in flight. */
export interface RunSlots {
  /** Runs without tin_match. */
  readonly runs: number;
  /** Runs with tin_match. */
  readonly tinRuns: number;
}

/**
 * Consumes the runs of one environment's monitors. Runs with tin_match have a topic, a consumer group and slots of their
 * own, so that a slow TIN provider never holds a slot, a partition or an offset of other runs.
 */
export function startRunConsumers(options: {
  kafka: Pick<Kafka, "runConsumer" | "topicFor">;
  environment: Environment;
  handle: (record: VerificationRequested) => Promise<void>;
  slots: RunSlots;
  logger: Logger;
}): RunningConsumer[] {
  const { kafka, environment, handle, slots, logger } = options;
  return [
    { group: "verification", topic: topicNames.verificationRequested, concurrency: slots.runs },
    { group: "verification.tin_match", topic: topicNames.verificationRequestedTin, concurrency: slots.tinRuns },
  ].map(({ group, topic, concurrency }) => {
    const source = { topic: kafka.topicFor(environment, topic), schema: VerificationRequestedSchema };
    const subscriptions = [subscription({ ...source, handle })];
    return kafka.runConsumer({ groupId: `${group}.${environment}`, subscriptions, concurrency, logger });
  });
}
