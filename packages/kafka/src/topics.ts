import type { Environment } from "@vvs/tenant";
import { environments } from "@vvs/tenant";

/** The product's topics. Each exists once per environment and carries one type of record. */
export const topicNames = {
  verificationRequested: "verification.requested",
  verificationRequestedTin: "verification.requested.tin_match",
  verificationCompleted: "verification.completed",
  verificationCompletedDirect: "verification.completed.direct",
  changeDetected: "monitor.change_detected",
  monitorStateChanged: "monitor.state_changed",
  webhookRequested: "webhook.requested",
  registryChanged: "registry.changed",
} as const;

export type TopicName = (typeof topicNames)[keyof typeof topicNames];

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Shorter than the 30 days for which record ids are kept, so that a topic can be replayed from its beginning. */
const RETENTION_MS = 7 * DAY_MS;
const DEAD_LETTER_RETENTION_MS = 30 * DAY_MS;
/** Kafka's default for the largest record batch. Dead letters get more, for the headers with the reason. */
const MAX_RECORD_BYTES = 1_048_588;
const DEAD_LETTER_MAX_RECORD_BYTES = MAX_RECORD_BYTES + 65_536;

/** Settings of a topic to create. The broker's defaults apply where they are undefined. */
export interface TopicSpec {
  readonly topic: string;
  readonly partitions: number;
  readonly retentionMs: number;
  readonly maxRecordBytes: number;
  readonly replicationFactor?: number;
  readonly minInsyncReplicas?: number;
}

/** Settings of all topics. `partitions` is the maximum number of a service's replicas that can share its work. */
export interface TopicSettings {
  readonly partitions?: number;
  readonly replicationFactor?: number;
  readonly minInsyncReplicas?: number;
}

/** Returns the full name of a topic: `<prefix><environment>.<topic>`. */
export function topicFor(options: { prefix?: string; environment: Environment; topic: TopicName }): string {
  return `${options.prefix ?? ""}${options.environment}.${options.topic}`;
}

/** Returns the full name of the topic for records that can't be processed. */
export function deadLetterTopic(topic: string): string {
  return `${topic}.dlq`;
}

/** Returns every topic of the product with its dead-letter topic, for both environments. */
export function allTopics(prefix = "", settings: TopicSettings = {}): TopicSpec[] {
  const { partitions = 12, replicationFactor, minInsyncReplicas } = settings;
  const replication = { replicationFactor, minInsyncReplicas };
  return environments.flatMap((environment) =>
    Object.values(topicNames).flatMap((name) => {
      const topic = topicFor({ prefix, environment, topic: name });
      return [
        { topic, partitions, retentionMs: RETENTION_MS, maxRecordBytes: MAX_RECORD_BYTES, ...replication },
        {
          topic: deadLetterTopic(topic),
          partitions: 1,
          retentionMs: DEAD_LETTER_RETENTION_MS,
          maxRecordBytes: DEAD_LETTER_MAX_RECORD_BYTES,
          ...replication,
        },
      ];
    }),
  );
}
