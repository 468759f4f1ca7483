import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Logger } from "@vvs/logging";
import { backoffMs, pause } from "./backoff.ts";
import { decode, UndecodableError } from "./decode.ts";
import type { Delivery } from "./delivery.ts";
import { PoisonRecordError } from "./errors.ts";
import type { Partition } from "./partition.ts";
import type { PutAside } from "./put-aside.ts";
import type { ConsumedRecord } from "./record.ts";
import { createRetryReport } from "./retry-report.ts";
import { type Instruments, processingBatch, type TraceCarrier } from "./telemetry.ts";

/** One record of a batch. */
export interface BatchItem<Desc extends DescMessage = DescMessage> {
  readonly message: MessageShape<Desc>;
  /** When it was sent. */
  readonly timestamp: Date;
  /** W3C headers of the span of processing it, for work that goes on after it. */
  readonly trace: TraceCarrier;
}

/** What is done with the records of one topic, many at a time. */
export interface BatchSubscription<Desc extends DescMessage = DescMessage> {
  /** Its full name. */
  readonly topic: string;
  readonly schema: Desc;
  /** Records handled at once, at most. */
  readonly maxBatch: number;
  /**
   * Processes records in the order they were read, which keeps that of each key; one call at a time. They are committed
   * once it resolves, so their effect must be stored by then, and any may come again. Errors: PoisonRecordError has each
   * handled alone, so that the one at fault goes to the dead-letter topic; with any other one all are tried again.
   */
  handleBatch(items: readonly BatchItem<Desc>[]): Promise<void>;
}

interface Held {
  readonly record: ConsumedRecord;
  readonly partition: Partition;
}

/** Processes what is there as one batch, then what came meanwhile as the next. */
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
    for (const { record, partition } of batch) partition.finish(record.offset);
    for (const partition of new Set(batch.map((held) => held.partition))) options.onFinished(partition);
  }

  async function decoded(batch: readonly Held[]): Promise<{ held: Held; message: MessageShape<DescMessage> }[]> {
    const good = [];
    for (const held of batch) {
      const message = decode(subscription.schema, held.record);
      if (message instanceof UndecodableError) await putAside(held.record, "undecodable", message);
      else good.push({ held, message });
    }
    return good;
  }

  async function attempt(batch: readonly Held[]): Promise<void> {
    const good = await decoded(batch);
    if (good.length === 0) return;
    const records = good.map(({ held }) => held.record);
    try {
      await processingBatch(instruments, groupId, records, (traces) =>
        subscription.handleBatch(
          good.map(({ held, message }, index) => ({
            message,
            timestamp: held.record.timestamp,
            trace: traces[index]!,
          })),
        ),
      );
    } catch (error) {
      if (!(error instanceof PoisonRecordError)) throw error;
      if (good.length === 1) await putAside(records[0]!, "impossible", error);
      else for (const { held } of good) await attempt([held]);
    }
  }

  /** Resolves when the batch is done, or what is left of it is no longer ours to process. */
  async function process(batch: readonly Held[]): Promise<void> {
    const first = batch[0]!.record;
    for (let number = 1, left = batch; ; number++) {
      left = left.filter(({ partition }) => !partition.released.aborted);
      const failure = left.length > 0 && (await attempt(left).then(() => undefined, asFailure));
      if (failure) retries.failed(first, number, failure.error);
      else if (number > 1) retries.ended(left.length > 0);
      if (!failure) return finish(left);
      await pause(backoffMs(number), AbortSignal.any(left.map(({ partition }) => partition.released)));
    }
  }

  async function run(): Promise<void> {
    await undefined; // the records of one read are added one after another: all of them are one batch
    while (queue.length > 0) await process(queue.splice(0, subscription.maxBatch));
    running = undefined;
  }

  return {
    deliver(record, partition) {
      queue.push({ record, partition });
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
