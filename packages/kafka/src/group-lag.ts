import { metrics } from "@opentelemetry/api";
import type { Logger } from "@vvs/logging";
import { superviseLoop } from "@vvs/retry";
import { type Environment, environments } from "@vvs/tenant";
import type { Admin, Kafka as Library } from "kafkajs";
import { consumerGroups, type GroupName, groupFor } from "./groups.ts";
import { type TopicName, topicFor } from "./topics.ts";

/** Pause between two readings. */
const PERIOD_MS = 30_000;
/** Ages of records that are counted as late, in seconds. The first is the objective between a change and its delivery. */
const LATE_SECONDS = [60, 600] as const;

/** What a group has not finished of one topic. */
interface Reading {
  readonly environment: Environment;
  readonly group: GroupName;
  readonly topic: TopicName;
  readonly lag: number;
  /** Of these, those older than each of LATE_SECONDS. */
  readonly late: readonly number[];
}

export interface ObserveGroupsOptions {
  /** Clock with which the age of records is computed; their times are those of their producers. */
  readonly now: () => Date;
  readonly stopping: AbortSignal;
  readonly logger: Logger;
}

/**
 * Reads from the brokers how far each consumer group of the product is, whether its consumers run or not, and reports it
 * whenever metrics are collected. While the brokers don't answer, the last values stay and their age grows.
 */
export function observeGroups(options: ObserveGroupsOptions & { library: Library; prefix: string }) {
  const { library, prefix, now, logger } = options;
  const ended = new AbortController();
  const stopping = AbortSignal.any([options.stopping, ended.signal]);
  let admin: Admin | undefined;
  let newest: { readings: readonly Reading[]; atMs: number } = { readings: [], atMs: performance.now() };

  async function disconnect(): Promise<void> {
    const open = admin;
    admin = undefined;
    await open?.disconnect().catch(() => undefined);
  }

  const loop = superviseLoop({
    async round() {
      try {
        if (!admin) {
          admin = library.admin();
          await admin.connect();
        }
        newest = { readings: await readGroups(admin, prefix, now()), atMs: performance.now() };
        return PERIOD_MS;
      } catch (error) {
        await disconnect();
        throw error;
      }
    },
    failure: "the lag of consumer groups can't be read; retrying",
    recovery: "the lag of consumer groups is read again",
    backoff: { firstMs: 5_000, longestMs: PERIOD_MS },
    stopping,
    logger,
  });

  const meter = metrics.getMeter("@vvs/kafka");
  const lag = meter.createObservableGauge("kafka_group_lag", {
    description:
      "Records that a consumer group has not finished, as the brokers know it, so also while no consumer runs. If it grows, the consumers hang or are too slow.",
  });
  const late = meter.createObservableGauge("kafka_group_late_records", {
    description:
      "Unfinished records that are older than the label older_than (60s, 600s). Should be 0. For minutes above it: the consumers hang, are missing or are too slow.",
  });
  // OpenTelemetry exports the last value again when there is no new one, so its age is reported too.
  const age = meter.createObservableGauge("kafka_group_lag_age", {
    unit: "s",
    description:
      "Time since the lag of the consumer groups was last read from the brokers. Above a few minutes, the reported lag is out of date.",
  });
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = (result) => {
    result.observe(age, (performance.now() - newest.atMs) / 1_000);
    for (const { environment, group, topic, ...reading } of newest.readings) {
      const labels = { environment, group, topic };
      result.observe(lag, reading.lag, labels);
      for (const [at, seconds] of LATE_SECONDS.entries())
        result.observe(late, reading.late[at]!, { ...labels, older_than: `${seconds}s` });
    }
  };
  meter.addBatchObservableCallback(observe, [lag, late, age]);
  return {
    /** Ends the reading; resolves when the last one has ended. */
    async close(): Promise<void> {
      meter.removeBatchObservableCallback(observe, [lag, late, age]);
      ended.abort();
      await loop.ended();
      await disconnect();
    },
  };
}

async function readGroups(admin: Admin, prefix: string, now: Date): Promise<Reading[]> {
  const readings: Reading[] = [];
  for (const environment of environments)
    for (const group of Object.keys(consumerGroups) as GroupName[]) {
      const topics = new Map<string, TopicName>(
        consumerGroups[group].map((topic) => [topicFor({ prefix, environment, topic }), topic]),
      );
      const finished = await admin.fetchOffsets({
        groupId: groupFor({ prefix, environment, group }),
        topics: [...topics.keys()],
      });
      for (const { topic, partitions } of finished) {
        const next = new Map(partitions.map(({ partition, offset }) => [partition, Number(offset)]));
        readings.push({ environment, group, topic: topics.get(topic)!, ...(await readTopic(admin, topic, next, now)) });
      }
    }
  return readings;
}

/** `next`: offset that the group reads next, by partition; -1 before its first commit, when it begins with the oldest. */
async function readTopic(admin: Admin, topic: string, next: ReadonlyMap<number, number>, now: Date) {
  const log = await admin.fetchTopicOffsets(topic);
  const firstUnfinished = new Map(
    log.map(({ partition, low }) => [partition, Math.max(next.get(partition) ?? -1, Number(low))]),
  );
  const before = (ends: readonly { partition: number; offset: string }[]) =>
    ends.reduce(
      (sum, { partition, offset }) => sum + Math.max(0, Number(offset) - (firstUnfinished.get(partition) ?? 0)),
      0,
    );
  const late: number[] = [];
  for (const seconds of LATE_SECONDS)
    late.push(before(await admin.fetchTopicOffsetsByTimestamp(topic, now.getTime() - seconds * 1_000)));
  return { lag: before(log.map(({ partition, high }) => ({ partition, offset: high }))), late };
}
