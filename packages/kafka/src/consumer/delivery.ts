import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { context } from "@opentelemetry/api";
import type { Logger } from "@vvs/logging";
import { backoffMs, pause } from "@vvs/retry";
import type { PutAside } from "../dead-letters/put-aside.ts";
import { PoisonRecordError } from "../errors.ts";
import type { ConsumedRecord } from "../record.ts";
import { type Instruments, processing } from "../telemetry.ts";
import { BACKOFF } from "./backoff.ts";
import { decode, UndecodableError } from "./decode.ts";
import { createConcurrencyLimit, createKeyedQueues } from "./ordering.ts";
import type { Partition } from "./partition.ts";
import { createRetryReport } from "./retry-report.ts";

/** A topic and the handler of its records. */
export interface Subscription<Desc extends DescMessage = DescMessage> {
  /** Full name of the topic. */
  readonly topic: string;
  readonly schema: Desc;
  /**
   * Processes a record. The record is committed once this resolves, so its effect must be stored by then. The same
   * record may come again at any time. Errors: after a PoisonRecordError the record goes to the dead-letter topic;
   * after any other error it is tried again until it succeeds.
   */
  handle(message: MessageShape<Desc>): Promise<void>;
}

export interface Delivery {
  /** Processes a record after the earlier records of the same key. */
  deliver(record: ConsumedRecord, partition: Partition): void;
  /** Resolves when nothing is being processed. */
  idle(): Promise<void>;
}

/**
 * Processes records: those of one key in order, those of different keys at the same time, with at most `concurrency`
 * attempts in parallel. A record that waits for its next attempt delays only its own key.
 */
export function createDelivery(options: {
  groupId: string;
  subscriptions: readonly Subscription[];
  concurrency: number;
  putAside: PutAside;
  instruments: Instruments;
  logger: Logger;
  onFinished(partition: Partition): void;
}): Delivery {
  const { groupId, instruments, logger, putAside } = options;
  const subscriptions = new Map(options.subscriptions.map((subscription) => [subscription.topic, subscription]));
  const queues = createKeyedQueues();
  const limited = createConcurrencyLimit(options.concurrency);
  const retries = createRetryReport({ logger, instruments });

  async function attempt(record: ConsumedRecord): Promise<void> {
    const subscription = subscriptions.get(record.topic)!;
    const message = decode(subscription.schema, record);
    if (message instanceof UndecodableError) return putAside(record, "undecodable", message);
    try {
      await subscription.handle(message);
    } catch (error) {
      if (!(error instanceof PoisonRecordError)) throw error;
      await putAside(record, "impossible", error);
    }
  }

  /** Resolves when the record is processed, or dropped because its partition is now another consumer's. */
  async function process(record: ConsumedRecord, partition: Partition): Promise<void> {
    const { released } = partition;
    for (let number = 1; ; number++) {
      const outcome = await limited(async () => {
        if (released.aborted) return "dropped";
        return processing(instruments, groupId, [record], ([span]) => context.with(span!, () => attempt(record))).then(
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
      await pause(backoffMs(number, BACKOFF), released);
    }
  }

  return {
    deliver: (record, partition) =>
      queues.add(`${record.topic} ${record.key.toString("latin1")}`, () => process(record, partition)),
    idle: queues.idle,
  };
}
