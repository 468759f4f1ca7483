import type { TopicPartitionOffset } from "kafkajs";
import { createPartition, type Partition } from "./partition.ts";
import type { Assignment } from "./session.ts";

/** The partitions assigned to this consumer. One that stays assigned over a rebalance keeps its unfinished records. */
export interface Assignments {
  /** Replaces the assignment after a join: partitions outside of it are released, and none is paused. */
  assign(assignment: Assignment): void;
  /** Returns the partition; a new one if its log was rewound. */
  at(topic: string, partition: number, firstOffset: bigint): Partition;
  get(topic: string, partition: number): Partition | undefined;
  all(): Partition[];
  committable(): TopicPartitionOffset[];
  pause(partition: Partition): void;
  /** Returns whether the partition was paused. */
  resume(partition: Partition): boolean;
  /** Releases all partitions: no further record is started, and finished ones may still be committed. */
  release(): void;
}

export function createAssignments(): Assignments {
  const partitions = new Map<string, Partition>();
  const paused = new Set<Partition>();
  const idOf = (topic: string, partition: number) => `${topic}/${partition}`;

  return {
    assign(assignment) {
      const assigned = Object.entries(assignment).flatMap(([topic, numbers]) =>
        numbers.map((each) => idOf(topic, each)),
      );
      for (const [id, partition] of partitions) {
        if (assigned.includes(id)) continue;
        partition.release();
        partitions.delete(id);
      }
      paused.clear();
    },
    at(topic, number, firstOffset) {
      const id = idOf(topic, number);
      const known = partitions.get(id);
      if (known && !known.isRewoundBy(firstOffset)) return known;
      known?.release();
      const partition = createPartition(topic, number, firstOffset);
      partitions.set(id, partition);
      return partition;
    },
    get: (topic, partition) => partitions.get(idOf(topic, partition)),
    all: () => [...partitions.values()],
    committable: () =>
      [...partitions.values()].flatMap((partition) => {
        const offset = partition.committable();
        return offset === undefined
          ? []
          : [{ topic: partition.topic, partition: partition.partition, offset: String(offset) }];
      }),
    pause: (partition) => void paused.add(partition),
    resume: (partition) => paused.delete(partition),
    release: () => {
      for (const partition of partitions.values()) partition.release();
    },
  };
}
