import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Logger } from "@vvs/logging";
import { backoffMs, pause } from "./backoff.ts";
import { decode, UndecodableError } from "./decode.ts";
import { PoisonRecordError } from "./errors.ts";
import { createLanes, createSlots } from "./lanes.ts";
import type { Partition } from "./partition.ts";
import type { PutAside } from "./put-aside.ts";
import type { ConsumedRecord, RecordHeaders } from "./record.ts";
import { createRetryReport } from "./retry-report.ts";
import { type Instruments, processing } from "./telemetry.ts";

/** What a handler is told about the record beside its message. */
export interface RecordContext {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly key: string;
  readonly headers: RecordHeaders;
  /** When it was sent. */
  readonly timestamp: Date;
  /** 1, 2, … of this consumer; another one may have tried before. */
  readonly attempt: number;
  /** Aborted when the consumer stops and can wait no longer. */
  readonly signal: AbortSignal;
}

/** What is done with the records of one topic. */
export interface Subscription<Desc extends DescMessage = DescMessage> {
  /** Its full name. */
  readonly topic: string;
  readonly schema: Desc;
  /**
   * Processes a record; it is committed once this resolves, so its effect must be stored by then. The same record may
   * come again at any time. Errors: PoisonRecordError puts it into the dead-letter topic; with any other one the record
   * is tried again, for as long as it takes.
   */
  handle(message: MessageShape<Desc>, context: RecordContext): Promise<void>;
}

export interface Delivery {
  /** Processes a record once those of the same key before it are done. */
  deliver(record: ConsumedRecord, partition: Partition): void;
  /** Resolves when nothing is being processed. */
  idle(): Promise<void>;
}

/**
 * Processes records: the same key in order, different keys at once, up to `concurrency` attempts at a time. A record
 * waiting to be tried again holds up its key only.
 */
export function createDelivery(options: {
  groupId: string;
  subscriptions: readonly Subscription[];
  concurrency: number;
  putAside: PutAside;
  instruments: Instruments;
  logger: Logger;
  /** Aborted: nobody waits for the handlers any more. */
  expired: AbortSignal;
  onFinished(partition: Partition): void;
}): Delivery {
  const { groupId, instruments, logger, putAside } = options;
  const subscriptions = new Map(options.subscriptions.map((subscription) => [subscription.topic, subscription]));
  const lanes = createLanes();
  const inSlot = createSlots(options.concurrency);
  const retries = createRetryReport({ logger, instruments });

  async function attempt(record: ConsumedRecord, number: number): Promise<void> {
    const subscription = subscriptions.get(record.topic)!;
    const message = decode(subscription.schema, record);
    if (message instanceof UndecodableError) return putAside(record, "undecodable", message);
    try {
      await subscription.handle(message, {
        ...record,
        key: record.key.toString(),
        attempt: number,
        signal: options.expired,
      });
    } catch (error) {
      if (!(error instanceof PoisonRecordError)) throw error;
      await putAside(record, "impossible", error);
    }
  }

  /** Resolves when the record is done, or dropped because it is no longer ours to process. */
  async function process(record: ConsumedRecord, partition: Partition): Promise<void> {
    const { released } = partition;
    for (let number = 1; ; number++) {
      const outcome = await inSlot(async () => {
        if (released.aborted) return "dropped";
        return processing(instruments, groupId, record, () => attempt(record, number)).then(
          () => "done",
          (error: unknown) => ({ error }),
        );
      });
      if (typeof outcome !== "string") retries.failed(record, number, outcome.error);
      else if (number > 1) retries.ended(outcome === "done");
      if (outcome === "dropped") return;
      if (outcome === "done") {
        partition.finish(record.offset);
        options.onFinished(partition);
        return;
      }
      await pause(backoffMs(number), released);
    }
  }

  return {
    deliver: (record, partition) =>
      lanes.add(`${record.topic} ${record.key.toString("latin1")}`, () => process(record, partition)),
    idle: lanes.idle,
  };
}
