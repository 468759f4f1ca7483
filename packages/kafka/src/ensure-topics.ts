import type { ITopicConfig, Kafka as Library } from "kafkajs";
import kafkajs from "kafkajs";
import type { TopicSpec } from "./topics.ts";

/** Creates the topics that are missing; existing ones stay as they are. Errors: Kafka is unavailable, or refuses. */
export async function ensureTopics(library: Library, topics: readonly TopicSpec[]): Promise<void> {
  const admin = library.admin();
  await admin.connect();
  try {
    const existing = new Set(await admin.listTopics());
    const missing = topics.filter(({ topic }) => !existing.has(topic)).map(toTopicConfig);
    if (missing.length > 0) await admin.createTopics({ topics: missing, waitForLeaders: true });
  } catch (error) {
    if (!createdMeanwhile(error) && !notYetKnown(error))
      throw new Error("the topics could not be created", { cause: error });
    await ensureTopics(library, topics);
  } finally {
    await admin.disconnect();
  }
}

function toTopicConfig(spec: TopicSpec): ITopicConfig {
  const entries = {
    "cleanup.policy": "delete",
    "retention.ms": spec.retentionMs,
    "max.message.bytes": spec.maxRecordBytes,
    "min.insync.replicas": spec.minInsyncReplicas,
  };
  return {
    topic: spec.topic,
    numPartitions: spec.partitions,
    replicationFactor: spec.replicationFactor ?? -1,
    configEntries: Object.entries(entries).flatMap(([name, value]) =>
      value === undefined ? [] : [{ name, value: String(value) }],
    ),
  };
}

/** Returns whether another migration created some of the topics after we listed them. */
function createdMeanwhile(error: unknown): boolean {
  return (
    error instanceof kafkajs.KafkaJSAggregateError &&
    error.errors.some((each) => each instanceof kafkajs.KafkaJSProtocolError && each.type === "TOPIC_ALREADY_EXISTS")
  );
}

/** Returns whether the broker that was asked for the leaders of new topics does not know the topics yet. */
function notYetKnown(error: unknown): boolean {
  return error instanceof kafkajs.KafkaJSProtocolError && error.type === "UNKNOWN_TOPIC_OR_PARTITION";
}
