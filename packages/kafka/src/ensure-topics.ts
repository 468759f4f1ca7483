import { setTimeout as wait } from "node:timers/promises";
import type { Admin, ITopicConfig, Kafka as Library } from "kafkajs";
import kafkajs from "kafkajs";
import type { TopicSpec } from "./topics.ts";

/** Brokers know a new topic after this many milliseconds at most. */
const KNOWN_WITHIN_MS = 30_000;
const LOOK_AGAIN_MS = 100;

/**
 * Creates the topics that are missing; existing ones stay as they are. Resolves when the broker that was asked knows all of
 * them. Errors: Kafka is unavailable, or refuses.
 */
export async function ensureTopics(library: Library, topics: readonly TopicSpec[]): Promise<void> {
  const admin = library.admin();
  await admin.connect();
  try {
    const end = performance.now() + KNOWN_WITHIN_MS;
    for (;;) {
      const existing = new Set(await admin.listTopics());
      const missing = topics.filter(({ topic }) => !existing.has(topic)).map(toTopicConfig);
      if (missing.length === 0) return;
      if (performance.now() > end) throw new Error(`no broker lists ${missing.map(({ topic }) => topic).join(", ")}`);
      // False: all of them exist, though the broker that lists topics may not know them yet.
      if (!(await create(admin, missing))) await wait(LOOK_AGAIN_MS);
    }
  } catch (cause) {
    throw new Error("the topics could not be created", { cause });
  } finally {
    await admin.disconnect();
  }
}

/** Returns whether the topics were created and have leaders. Errors: Kafka is unavailable, or refuses. */
async function create(admin: Admin, topics: ITopicConfig[]): Promise<boolean> {
  try {
    return await admin.createTopics({ topics, waitForLeaders: true });
  } catch (error) {
    if (createdMeanwhile(error) || notYetKnown(error)) return false;
    throw error;
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
