import type { DescMessage } from "@bufbuild/protobuf";
import type { Logger } from "@vvs/logging";
import type { Kafka as Library } from "kafkajs";
import { backoffMs, pause, within } from "./backoff.ts";
import type { BatchSubscription } from "./batch-delivery.ts";
import { createCommitter } from "./committer.ts";
import type { Subscription } from "./delivery.ts";
import { createIntake } from "./intake.ts";
import type { Partition } from "./partition.ts";
import type { Producer } from "./producer.ts";
import { createSession, type Session } from "./session.ts";
import type { Instruments } from "./telemetry.ts";

/** What is in hand at stop has this long to finish. */
const DRAIN_MS = 25_000;
/** The last commit and leaving the group each have this long. */
const FAREWELL_MS = 5_000;

export interface ConsumerOptions {
  /** Without the prefix, which is put before it. */
  readonly groupId: string;
  readonly subscriptions: readonly (Subscription | BatchSubscription)[];
  /** How many records are processed at once, where they are processed singly. */
  readonly concurrency: number;
  /** It joined its group, again perhaps: between two lives of it, others may have had its partitions. */
  readonly onJoined?: () => void;
  readonly logger: Logger;
}

export interface RunningConsumer {
  /** Resolves once it has joined the group, with or without partitions of its own. */
  readonly ready: Promise<void>;
  /** Takes nothing more, lets the handlers finish (25 s at most), commits and leaves the group. */
  stop(): Promise<void>;
}

/** Types a subscription's handler by its schema, for lists of several. */
export function subscription<Desc extends DescMessage>(options: Subscription<Desc>): Subscription {
  return options as Subscription;
}

/** The same for a subscription that takes its records in batches. */
export function batchSubscription<Desc extends DescMessage>(options: BatchSubscription<Desc>): BatchSubscription {
  return options as unknown as BatchSubscription;
}

/**
 * Consumes until stopped, whatever happens to the brokers. Reading and heartbeats go on while handlers are slow; a
 * partition whose records are not done pauses by itself.
 */
export function startConsumer(
  options: ConsumerOptions & { library: Library; producer: Producer; instruments: Instruments },
): RunningConsumer {
  const { groupId, logger, instruments } = options;
  const stopping = new AbortController();
  const expired = new AbortController();
  const joined = Promise.withResolvers<void>();
  let session: Session | undefined;

  const committer = createCommitter({
    committable: () => intake.committable(),
    commit: async (offsets) => session?.commit(offsets),
  });
  const intake = createIntake({
    ...options,
    expired: expired.signal,
    onCommittable: committer.soon,
    onHold: (partition) => session?.pause([toTopicPartitions(partition)]),
    onResume: (partition) => session?.resume([toTopicPartitions(partition)]),
  });

  async function live(): Promise<void> {
    const topics = options.subscriptions.map(({ topic }) => topic);
    let failures = 0;
    let told: "nothing" | "silence" | "cause" = "nothing";
    const onQuiet = () => {
      if (told !== "nothing") return;
      logger.error({ groupId }, "the consumer hears nothing of Kafka; trying until it is back");
      told = "silence";
    };
    const onFailure = (err: unknown) => {
      if (told !== "cause") logger.error({ err, groupId }, "the consumer lost Kafka; trying until it is back");
      told = "cause";
    };
    const onAlive = () => {
      if (told !== "nothing") logger.info({ groupId }, "the consumer is back in its group");
      told = "nothing";
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
      await within(FAREWELL_MS, session.close()).catch(() => undefined);
      await pause(backoffMs(++failures), stopping.signal);
    }
  }

  async function stop(): Promise<void> {
    stopping.abort();
    session?.pause(options.subscriptions.map(({ topic }) => ({ topic })));
    await within(DRAIN_MS, intake.drain());
    expired.abort();
    await within(FAREWELL_MS, committer.finish()).catch((err: unknown) => {
      logger.warn({ err, groupId }, "the last commit failed; its records come again");
    });
    await within(FAREWELL_MS, Promise.all([session?.close(), options.producer.close()])).catch(() => undefined);
    await within(FAREWELL_MS, life);
    instruments.committedLag.removeCallback(intake.reportLag);
  }

  instruments.committedLag.addCallback(intake.reportLag);
  const life = live();
  let stopped: Promise<void> | undefined;

  return {
    ready: joined.promise,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

function toTopicPartitions({ topic, partition }: Partition): { topic: string; partitions: number[] } {
  return { topic, partitions: [partition] };
}
