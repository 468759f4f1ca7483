import type { DescMessage } from "@bufbuild/protobuf";
import type { Logger } from "@vvs/logging";
import { backoffMs, pause, within } from "@vvs/retry";
import type { Kafka as Library } from "kafkajs";
import type { Producer } from "../producer.ts";
import type { Instruments } from "../telemetry.ts";
import { BACKOFF } from "./backoff.ts";
import type { BatchSubscription } from "./batch-delivery.ts";
import { createCommitter } from "./committer.ts";
import type { Subscription } from "./delivery.ts";
import { createIntake } from "./intake.ts";
import type { Partition } from "./partition.ts";
import { createSession, type Session } from "./session.ts";

/** Time in which running handlers may finish at stop. */
const DRAIN_MS = 25_000;
/** Timeout of the last commit, and of leaving the group. */
const CLOSE_MS = 5_000;
const LATE = "Kafka or a handler took too long";

export interface ConsumerOptions {
  /** Name of the consumer group, without the prefix. */
  readonly groupId: string;
  readonly subscriptions: readonly (Subscription | BatchSubscription)[];
  /** Maximum number of records in process at the same time; batches are not counted. */
  readonly concurrency: number;
  /** Called after each join of the group. Before a repeated join, other consumers may have had the partitions. */
  readonly onJoined?: () => void;
  readonly logger: Logger;
}

export type RunningConsumer = ReturnType<typeof startConsumer>;

/** Checks a handler against its schema's type; the result fits into a list of different subscriptions. */
export function subscription<Desc extends DescMessage>(options: Subscription<Desc>): Subscription {
  return options as Subscription;
}

/** The same for a subscription with batches. */
export function batchSubscription<Desc extends DescMessage>(options: BatchSubscription<Desc>): BatchSubscription {
  return options as unknown as BatchSubscription;
}

/**
 * Consumes until stopped, and reconnects whenever the brokers were lost. Reading and heartbeats continue while handlers
 * are slow; a partition with too many unfinished records is paused.
 */
export function startConsumer(
  options: ConsumerOptions & {
    library: Library;
    producer: Producer;
    instruments: Instruments;
    sessionTimeoutMs?: number | undefined;
  },
) {
  const { groupId, logger, instruments } = options;
  const stopping = new AbortController();
  const joined = Promise.withResolvers<void>();
  let session: Session | undefined;

  const committer = createCommitter({
    committable: () => intake.committable(),
    commit: async (offsets) => session?.commit(offsets),
  });
  const intake = createIntake({
    ...options,
    onCommittable: committer.soon,
    onHold: (partition) => session?.pause([toTopicPartitions(partition)]),
    onResume: (partition) => session?.resume([toTopicPartitions(partition)]),
  });

  async function consume(): Promise<void> {
    const topics = options.subscriptions.map(({ topic }) => topic);
    let failures = 0;
    let logged: "nothing" | "silence" | "cause" = "nothing";
    const onQuiet = () => {
      if (logged !== "nothing") return;
      logger.error({ groupId }, "the consumer gets no answer from Kafka; trying until it is back");
      logged = "silence";
    };
    const onFailure = (err: unknown) => {
      if (logged !== "cause") logger.error({ err, groupId }, "the consumer lost Kafka; trying until it is back");
      logged = "cause";
    };
    const onAlive = () => {
      if (logged !== "nothing") logger.info({ groupId }, "the consumer is back in its group");
      logged = "nothing";
      failures = 0;
    };
    const onJoined: typeof intake.onJoined = (assignment) => {
      options.onJoined?.();
      intake.onJoined(assignment);
      joined.resolve();
    };
    while (!stopping.signal.aborted) {
      session = createSession({ ...options, ...intake, topics, onJoined, onAlive, onQuiet });
      const err = await session.run();
      if (stopping.signal.aborted) return;
      onFailure(err);
      await within(CLOSE_MS, LATE, session.close()).catch(() => undefined);
      await pause(backoffMs(++failures, BACKOFF), stopping.signal);
    }
  }

  async function stop(): Promise<void> {
    stopping.abort();
    session?.pause(options.subscriptions.map(({ topic }) => ({ topic })));
    await within(DRAIN_MS, LATE, intake.drain()).catch(() => undefined);
    await within(CLOSE_MS, LATE, committer.finish()).catch((err: unknown) => {
      logger.warn({ err, groupId }, "the last commit failed; its records will be read again");
    });
    const closed = Promise.all([session?.close(), options.producer.close()]);
    await within(CLOSE_MS, LATE, closed).catch(() => undefined);
    await within(CLOSE_MS, LATE, consuming).catch(() => undefined);
    instruments.committedLag.removeCallback(intake.reportLag);
  }

  instruments.committedLag.addCallback(intake.reportLag);
  const consuming = consume();
  let stopped: Promise<void> | undefined;

  return {
    /** Resolves once the consumer has joined its group, even if it was given no partitions. */
    ready: joined.promise,
    /** Takes no more records, lets running handlers finish (25 s at most), commits and leaves the group. */
    stop(): Promise<void> {
      stopped ??= stop();
      return stopped;
    },
  };
}

function toTopicPartitions({ topic, partition }: Partition): { topic: string; partitions: number[] } {
  return { topic, partitions: [partition] };
}
