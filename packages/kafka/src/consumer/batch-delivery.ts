import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Logger } from "@vvs/logging";
import { backoffMs, pause } from "@vvs/retry";
import type { DeadLetterReason } from "../dead-letters/dead-letter.ts";
import type { PutAside } from "../dead-letters/put-aside.ts";
import { PoisonRecordError } from "../errors.ts";
import type { ConsumedRecord } from "../record.ts";
import { type Instruments, processing, type TraceCarrier, traceHeaders } from "../telemetry.ts";
import { BACKOFF } from "./backoff.ts";
import { decode, UndecodableError } from "./decode.ts";
import type { Delivery } from "./delivery.ts";
import type { Partition } from "./partition.ts";
import { createRetryReport } from "./retry-report.ts";

/** One record of a batch. */
export interface BatchItem<Desc extends DescMessage = DescMessage> {
  readonly message: MessageShape<Desc>;
  /** W3C trace headers for work that continues later: of the span that processes the record, in a large batch of the one that sent it. */
  readonly trace: TraceCarrier;
}

/** A topic and the handler of its records, which takes many records at a time. */
export interface BatchSubscription<Desc extends DescMessage = DescMessage> {
  /** Full name of the topic. */
  readonly topic: string;
  readonly schema: Desc;
  /** Maximum number of records in a batch. */
  readonly maxBatch: number;
  /**
   * Processes records in the order they were read, which keeps the order of each key. One call runs at a time. The
   * records are committed once it resolves, so their effect must be stored by then; any of them may come again. Errors:
   * after a PoisonRecordError each record is handled on its own, so that only the faulty one goes to the dead-letter
   * topic; after any other error all are tried again.
   */
  handleBatch(items: readonly BatchItem<Desc>[]): Promise<void>;
}

interface Held {
  readonly record: ConsumedRecord;
  readonly partition: Partition;
  /** It is done (handled, or sent to the dead letters), perhaps while the rest of its batch is tried again. */
  isFinished: boolean;
}

/** Processes all waiting records as one batch, then those that arrived meanwhile as the next. */
export function createBatchDelivery(options: {
  groupId: string;
  subscription: BatchSubscription;
  instruments: Instruments;
  putAside: PutAside;
  logger: Logger;
  onFinished(partition: Partition): void;
}): Delivery {
  const { groupId, subscription, instruments, putAside, logger } = options;
  const retries = createRetryReport({ logger, instruments });
  const queue: Held[] = [];
  let running: Promise<void> | undefined;

  function finish(batch: readonly Held[]): void {
    for (const held of batch) {
      held.isFinished = true;
      held.partition.finish(held.record.offset);
    }
    for (const partition of new Set(batch.map((held) => held.partition))) options.onFinished(partition);
  }

  async function setAside(held: Held, ...why: [DeadLetterReason, Error]): Promise<void> {
    await putAside(held.record, ...why);
    finish([held]);
  }

  async function attempt(batch: readonly Held[]): Promise<void> {
    const good: { held: Held; message: MessageShape<DescMessage> }[] = [];
    for (const held of batch) {
      const message = decode(subscription.schema, held.record);
      if (message instanceof UndecodableError) await setAside(held, "undecodable", message);
      else good.push({ held, message });
    }
    if (good.length === 0) return;
    const records = good.map(({ held }) => held.record);
    try {
      await processing(instruments, groupId, records, (contexts) =>
        subscription.handleBatch(
          good.map(({ message }, index) => ({ message, trace: traceHeaders(contexts[index]!) })),
        ),
      );
      finish(good.map(({ held }) => held));
    } catch (error) {
      if (!(error instanceof PoisonRecordError)) throw error;
      if (good.length === 1) await setAside(good[0]!.held, "impossible", error);
      else for (const { held } of good) await attempt([held]);
    }
  }

  /** Resolves when the batch is done, or when the partitions of the remaining records are another consumer's. */
  async function process(batch: readonly Held[]): Promise<void> {
    const first = batch[0]!.record;
    for (let number = 1, left = batch; ; number++) {
      left = left.filter((held) => !held.isFinished && !held.partition.released.aborted);
      const failure = left.length > 0 && (await attempt(left).then(() => undefined, asFailure));
      if (failure) retries.failed(first, number, failure.error);
      else if (number > 1) retries.ended(left.length > 0);
      if (!failure) return;
      await pause(backoffMs(number, BACKOFF), AbortSignal.any(left.map(({ partition }) => partition.released)));
    }
  }

  async function run(): Promise<void> {
    await undefined; // the records of one fetch are added one after another: all of them make one batch
    while (queue.length > 0) await process(queue.splice(0, subscription.maxBatch));
    running = undefined;
  }

  return {
    deliver(record, partition) {
      queue.push({ record, partition, isFinished: false });
      running ??= run();
    },
    async idle() {
      while (running) await running;
    },
  };
}

function asFailure(error: unknown): { error: unknown } {
  return { error };
}
