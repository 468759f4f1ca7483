import type { Batch, Consumer, Kafka as Library, TopicPartitionOffset } from "kafkajs";
import kafkajs from "kafkajs";

/** A member that sends no heartbeat for this long loses its partitions. Heartbeats do not wait for handlers. */
const SESSION_TIMEOUT_MS = 15_000;
/** Also how soon a member learns that another one wants to join. */
const HEARTBEAT_MS = 1_000;
/** How long a fetch waits for records to come; a heartbeat or a resumed partition may have to wait for it. */
const FETCH_WAIT_MS = 500;
const FETCH_BYTES_PER_PARTITION = 256 * 1_024;
const FETCH_BYTES = 4 * 1_024 * 1_024;
/** Without a heartbeat for this long Kafka counts as lost. */
const QUIET_MS = 10_000;
/** And for this long, the session is hung, and a new one is begun: joining alone may take a minute. */
const HUNG_MS = 90_000;

/** Topic → partitions. */
export type Assignment = Readonly<Record<string, readonly number[]>>;

/** One life of the library's consumer: from its first connection until it fails or is closed. */
export interface Session {
  /** Resolves with what ended it; undefined when it was closed. */
  run(): Promise<unknown>;
  /** Errors: the group is rebalancing, or the broker is away. Nothing happens between two lives. */
  commit(offsets: TopicPartitionOffset[]): Promise<void>;
  /** Nothing happens while it is not in its group; it begins there with nothing paused. */
  pause(topics: { topic: string; partitions?: number[] }[]): void;
  resume(topics: { topic: string; partitions?: number[] }[]): void;
  /** Leaves the group. */
  close(): Promise<void>;
}

export interface SessionEvents {
  /** A heartbeat was answered, or the group joined. */
  onAlive(): void;
  /** There was no sign of life for some seconds; the session goes on trying. */
  onQuiet(): void;
  /** Joined the group, or joined it again; what is not in the assignment is another member's now. */
  onJoined(assignment: Assignment): void;
  /** Takes the records. They count as read, not as processed. False: they are to be read again. */
  onBatch(batch: Batch): boolean;
  /** The broker stored these commits. */
  onCommitted(topic: string, partition: number, offset: bigint): void;
}

export function createSession(
  options: { library: Library; groupId: string; topics: string[] } & SessionEvents,
): Session {
  const consumer = options.library.consumer({
    groupId: options.groupId,
    sessionTimeout: SESSION_TIMEOUT_MS,
    heartbeatInterval: HEARTBEAT_MS,
    maxWaitTimeInMs: FETCH_WAIT_MS,
    maxBytesPerPartition: FETCH_BYTES_PER_PARTITION,
    maxBytes: FETCH_BYTES,
    allowAutoTopicCreation: false,
    // The library gives up on errors it deems final; we never do, so starting again is left to us alone.
    retry: { restartOnFailure: async () => false },
  });
  const end = Promise.withResolvers<unknown>();
  const quiet = setTimeout(options.onQuiet, QUIET_MS);
  const hung = setTimeout(() => end.resolve(new Error("the consumer hung")), HUNG_MS);
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
    // Closed while it was on its way: it must not stay in the group, holding partitions that nobody reads.
    if (over) await consumer.disconnect();
  }

  return {
    run() {
      start().catch(end.resolve);
      return end.promise;
    },
    commit: (offsets) => consumer.commitOffsets(offsets),
    pause: (topics) => ifRunning(() => consumer.pause(topics)),
    resume: (topics) => ifRunning(() => consumer.resume(topics)),
    async close() {
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

/** The library refuses these while it is not in its group; it begins there with nothing paused. */
function ifRunning(action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof kafkajs.KafkaJSNonRetriableError)) throw error;
  }
}
