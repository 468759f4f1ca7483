import type { ObservableResult } from "@opentelemetry/api";
import type { Batch } from "kafkajs";
import { createPutAside } from "../dead-letters/put-aside.ts";
import type { Producer } from "../producer.ts";
import { toConsumedRecord } from "../record.ts";
import { attributes, type Instruments } from "../telemetry.ts";
import { createAssignments } from "./assignments.ts";
import { type BatchSubscription, createBatchDelivery } from "./batch-delivery.ts";
import { createDelivery, type Delivery, type Subscription } from "./delivery.ts";
import type { Partition } from "./partition.ts";
import type { Assignment } from "./session.ts";

/** Maximum number of unfinished records of a partition. Reading pauses there, until half of them are done. */
const HELD_PER_PARTITION = 200;
/** The same with batches, which need more records at a time. */
const HELD_FOR_BATCHES = 1_000;

/** Passes records from reading to processing, and keeps which of them are finished. */
export function createIntake(
  options: Omit<Parameters<typeof createDelivery>[0], "onFinished" | "putAside" | "subscriptions"> & {
    subscriptions: readonly (Subscription | BatchSubscription)[];
    producer: Pick<Producer, "send">;
    instruments: Instruments;
    onCommittable(): void;
    /** Called when reading of a partition must pause, or continue. */
    onHold(partition: Partition): void;
    onResume(partition: Partition): void;
  },
) {
  const { groupId, instruments } = options;
  const assignments = createAssignments();
  let draining = false;

  const singly = options.subscriptions.filter((each) => "handle" in each);
  const inBatches = options.subscriptions.filter((each) => "handleBatch" in each);
  const holds = inBatches.length > 0 ? HELD_FOR_BATCHES : HELD_PER_PARTITION;

  function onFinished(partition: Partition): void {
    options.onCommittable();
    if (partition.unfinished() <= holds / 2 && assignments.resume(partition)) options.onResume(partition);
  }

  const putAside = createPutAside(options);
  const delivery = createDelivery({ ...options, subscriptions: singly, putAside, onFinished });
  const batches = new Map<string, Delivery>(
    inBatches.map((each) => [
      each.topic,
      createBatchDelivery({ ...options, subscription: each, putAside, onFinished }),
    ]),
  );

  function holdIfFull(partition: Partition): void {
    if (partition.unfinished() < holds) return;
    assignments.pause(partition);
    options.onHold(partition);
  }

  return {
    onJoined(assignment: Assignment): void {
      assignments.assign(assignment);
      for (const partition of assignments.all()) holdIfFull(partition);
    },
    /** Takes records that were read. Returns false if they must be read again. */
    onBatch({ topic, partition: number, messages, highWatermark }: Batch): boolean {
      if (draining) return false;
      const records = messages.map((message) => toConsumedRecord(topic, number, message));
      instruments.consumed.add(records.length, {
        [attributes.destination]: topic,
        [attributes.consumerGroup]: groupId,
      });
      const partition = assignments.at(topic, number, records[0]!.offset);
      partition.observeEnd(BigInt(highWatermark));
      const { deliver } = batches.get(topic) ?? delivery;
      for (const record of records) {
        if (partition.accept(record.offset)) deliver(record, partition);
      }
      holdIfFull(partition);
      return true;
    },
    onCommitted: (topic: string, partition: number, offset: bigint) =>
      assignments.get(topic, partition)?.committed(offset),
    committable: assignments.committable,
    reportLag(result: ObservableResult): void {
      for (const { topic, partition, lag } of assignments.all()) {
        result.observe(lag(), { topic, partition: String(partition), [attributes.consumerGroup]: groupId });
      }
    },
    /** Starts no further record; resolves when those in process are done. */
    async drain(): Promise<void> {
      draining = true;
      assignments.release();
      await Promise.all([delivery, ...batches.values()].map((each) => each.idle()));
    },
  };
}
