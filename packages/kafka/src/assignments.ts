import type { TopicPartitionOffset } from "kafkajs";
import { createPartition, type Partition } from "./partition.ts";
import type { Assignment } from "./session.ts";

/** The partitions that are this consumer's. One that it keeps over a rebalance keeps its records in hand. */
export interface Assignments {
  /** After a join: partitions not named are released and forgotten, and none is paused. */
  assign(assignment: Assignment): void;
  /** The partition, which begins anew where its log was rewound. */
  at(topic: string, partition: number, firstOffset: bigint): Partition;
  get(topic: string, partition: number): Partition | undefined;
  all(): Partition[];
  committable(): TopicPartitionOffset[];
  pause(partition: Partition): void;
  /** Was it paused? */
  resume(partition: Partition): boolean;
  /** Nothing further is begun; what is done by then may still be committed. */
  release(): void;
}

export function createAssignments(): Assignments {
  const partitions = new Map<string, Partition>();
  const paused = new Set<Partition>();
  const idOf = (topic: string, partition: number) => `${topic}/${partition}`;

  return {
    assign(assignment) {
      const mine = Object.entries(assignment).flatMap(([topic, numbers]) => numbers.map((each) => idOf(topic, each)));
      for (const [id, partition] of partitions) {
        if (mine.includes(id)) continue;
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
