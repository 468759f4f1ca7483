import type { TopicPartitionOffset } from "kafkajs";
import { createPartition, type Partition } from "./partition.ts";
import type { Assignment } from "./session.ts";

/** The partitions assigned to this consumer. One that stays assigned over a rebalance keeps its unfinished records. */
export function createAssignments() {
  const partitions = new Map<string, Partition>();
  const paused = new Set<Partition>();
  const idOf = (topic: string, partition: number) => `${topic}/${partition}`;

  return {
    /** Replaces the assignment after a join: partitions outside of it are released, and none is paused. */
    assign(assignment: Assignment): void {
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
    /** Returns the partition; a new one if its log was rewound. */
    at(topic: string, number: number, firstOffset: bigint): Partition {
      const id = idOf(topic, number);
      const known = partitions.get(id);
      if (known && !known.isRewoundBy(firstOffset)) return known;
      known?.release();
      const partition = createPartition(topic, number, firstOffset);
      partitions.set(id, partition);
      return partition;
    },
    get: (topic: string, partition: number) => partitions.get(idOf(topic, partition)),
    all: () => [...partitions.values()],
    committable: (): TopicPartitionOffset[] =>
      [...partitions.values()].flatMap((partition) => {
        const offset = partition.committable();
        return offset === undefined
          ? []
          : [{ topic: partition.topic, partition: partition.partition, offset: String(offset) }];
      }),
    pause: (partition: Partition) => void paused.add(partition),
    /** Returns whether the partition was paused. */
    resume: (partition: Partition) => paused.delete(partition),
    /** Releases all partitions: no further record is started, and finished ones may still be committed. */
    release(): void {
      for (const partition of partitions.values()) partition.release();
    },
  };
}
