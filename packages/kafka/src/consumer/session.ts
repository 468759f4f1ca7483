import type { Batch, Consumer, Kafka as Library, TopicPartitionOffset } from "kafkajs";
import kafkajs from "kafkajs";

/** By default, a member without a heartbeat for this long loses its partitions. Heartbeats do not wait for handlers. */
export const SESSION_TIMEOUT_MS = 15_000;
/** Interval of heartbeats, and the time after which a member learns that another one wants to join. */
const HEARTBEAT_MS = 1_000;
/** Time that a fetch waits for records; a heartbeat or a resumed partition may have to wait for the fetch. */
const FETCH_WAIT_MS = 500;
const FETCH_BYTES_PER_PARTITION = 256 * 1_024;
const FETCH_BYTES = 4 * 1_024 * 1_024;
/** Without a heartbeat for this long, Kafka counts as lost. */
const QUIET_MS = 10_000;
/** Without one for this long, the session hangs and a new one begins. More than the minute that a join may take. */
const HUNG_MS = 90_000;

/** Topic → partitions. */
export type Assignment = Readonly<Record<string, readonly number[]>>;

type TopicPartitions = { topic: string; partitions?: number[] };

export interface SessionEvents {
  /** Called when a heartbeat was answered or the group was joined. */
  onAlive(): void;
  /** Called when no heartbeat was answered for some seconds; the session keeps trying. */
  onQuiet(): void;
  /** Called after each join of the group. Partitions outside of the assignment are now another member's. */
  onJoined(assignment: Assignment): void;
  /** Takes records that were read and not yet processed. Returns false if they must be read again. */
  onBatch(batch: Batch): boolean;
  /** Called for each commit that the broker has stored. */
  onCommitted(topic: string, partition: number, offset: bigint): void;
}

export type Session = ReturnType<typeof createSession>;

/** One run of the library's consumer, from its first connection until it fails or is closed. */
export function createSession(
  options: {
    library: Library;
    groupId: string;
    topics: string[];
    sessionTimeoutMs?: number | undefined;
  } & SessionEvents,
) {
  const consumer = options.library.consumer({
    groupId: options.groupId,
    sessionTimeout: options.sessionTimeoutMs ?? SESSION_TIMEOUT_MS,
    heartbeatInterval: HEARTBEAT_MS,
    maxWaitTimeInMs: FETCH_WAIT_MS,
    maxBytesPerPartition: FETCH_BYTES_PER_PARTITION,
    maxBytes: FETCH_BYTES,
    allowAutoTopicCreation: false,
    // The library gives up after errors that it considers final. We never do, so only we restart it.
    retry: { restartOnFailure: async () => false },
  });
  const end = Promise.withResolvers<unknown>();
  const quiet = setTimeout(options.onQuiet, QUIET_MS);
  const hung = setTimeout(() => end.resolve(new Error("the consumer hangs")), HUNG_MS);
  let over = false;
  end.promise.finally(() => {
    over = true;
    clearTimeout(quiet);
    clearTimeout(hung);
  });
  listen(consumer, {
    ...options,
    isOver: () => over,
    onAlive() {
      quiet.refresh();
      hung.refresh();
      options.onAlive();
    },
    onCrash: end.resolve,
  });

  function consume(): Promise<void> {
    return consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: async ({ batch, resolveOffset }) => {
        if (!over && options.onBatch(batch)) resolveOffset(batch.messages.at(-1)!.offset);
      },
    });
  }

  async function start(): Promise<void> {
    const subscribe = () => consumer.subscribe({ topics: options.topics, fromBeginning: true });
    for (const step of [consumer.connect, subscribe, consume]) {
      if (!over) await step();
    }
    // Closed while it was connecting: it must not stay in the group and hold partitions that nobody reads.
    if (over) await consumer.disconnect();
  }

  return {
    /** Resolves with the error that ended the session, or with undefined when it was closed. */
    run(): Promise<unknown> {
      start().catch(end.resolve);
      return end.promise;
    },
    /** Commits offsets. Errors: the group is rebalancing, or the broker is unavailable. */
    commit: (offsets: TopicPartitionOffset[]) => consumer.commitOffsets(offsets),
    /** Pauses partitions. Does nothing while the consumer is not in its group, which it joins with nothing paused. */
    pause: (topics: TopicPartitions[]) => ifRunning(() => consumer.pause(topics)),
    resume: (topics: TopicPartitions[]) => ifRunning(() => consumer.resume(topics)),
    /** Leaves the group. */
    async close(): Promise<void> {
      end.resolve(undefined);
      await consumer.disconnect();
    },
  };
}

function listen(consumer: Consumer, events: SessionEvents & { isOver(): boolean; onCrash(error: Error): void }): void {
  const { HEARTBEAT, GROUP_JOIN, COMMIT_OFFSETS, CRASH } = consumer.events;
  consumer.on(CRASH, ({ payload }) => events.onCrash(payload.error));
  consumer.on(HEARTBEAT, () => {
    if (!events.isOver()) events.onAlive();
  });
  consumer.on(GROUP_JOIN, ({ payload }) => {
    if (events.isOver()) return;
    events.onJoined(payload.memberAssignment);
    events.onAlive();
  });
  consumer.on(COMMIT_OFFSETS, ({ payload }) => {
    for (const { topic, partitions } of payload.topics) {
      for (const { partition, offset } of partitions) events.onCommitted(topic, partition, BigInt(String(offset)));
    }
  });
}

/** Ignores the library's refusal of these actions while it is not in its group. */
function ifRunning(action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof kafkajs.KafkaJSNonRetriableError)) throw error;
  }
}
