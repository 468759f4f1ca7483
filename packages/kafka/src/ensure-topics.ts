import type { ITopicConfig, Kafka as Library } from "kafkajs";
import kafkajs from "kafkajs";
import type { TopicSpec } from "./topics.ts";

/** Creates the topics that are missing; existing ones stay as they are. Errors: Kafka is away, or refuses. */
export async function ensureTopics(library: Library, topics: readonly TopicSpec[]): Promise<void> {
  const admin = library.admin();
  await admin.connect();
  try {
    const existing = new Set(await admin.listTopics());
    const missing = topics.filter(({ topic }) => !existing.has(topic)).map(toTopicConfig);
    if (missing.length > 0) await admin.createTopics({ topics: missing, waitForLeaders: true });
  } catch (error) {
    if (!madeMeanwhile(error)) throw new Error("the topics could not be created", { cause: error });
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

/** Another migration made some of them between our look and our request. */
function madeMeanwhile(error: unknown): boolean {
  return (
    error instanceof kafkajs.KafkaJSAggregateError &&
    error.errors.some((each) => each instanceof kafkajs.KafkaJSProtocolError && each.type === "TOPIC_ALREADY_EXISTS")
  );
}
