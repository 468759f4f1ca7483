/**
 * State of one assigned partition: its unfinished records, and the offset up to which all records are done. Only that
 * contiguous prefix may be committed, as the offset after it.
 */
export interface Partition {
  readonly topic: string;
  readonly partition: number;
  /** Aborted when another consumer gets the partition or this one stops: records that have not begun are dropped. */
  readonly released: AbortSignal;
  /** Takes a record that was read. Returns false if it is known already: the group reads again from its last commit. */
  accept(offset: bigint): boolean;
  /** Marks a record as done: its effect is stored, so it may be committed. */
  finish(offset: bigint): void;
  /** Returns the offset to commit, or undefined if there is nothing new. */
  committable(): bigint | undefined;
  /** Notes that the broker has stored this commit. */
  committed(offset: bigint): void;
  /** Returns whether a read from this offset means that the log was rewound: a new topic, or offsets set back. */
  isRewoundBy(offset: bigint): boolean;
  /** Number of records that were taken and are not done. */
  unfinished(): number;
  /** Number of records between the finished ones and the last known end of the log. */
  lag(): number;
  /** Notes the end of the log that the broker reported. */
  observeEnd(offset: bigint): void;
  release(): void;
}

export function createPartition(topic: string, partition: number, start: bigint): Partition {
  const releasing = new AbortController();
  // In the order of reading, so the first one is the lowest.
  const held = new Set<bigint>();
  let position = start;
  let confirmed = start;
  let end = start;

  function prefixEnd(): bigint {
    const [lowest] = held;
    return lowest ?? position;
  }

  return {
    topic,
    partition,
    released: releasing.signal,
    accept(offset) {
      if (offset < position) return false;
      held.add(offset);
      position = offset + 1n;
      return true;
    },
    finish: (offset) => void held.delete(offset),
    committable() {
      const next = prefixEnd();
      return next > confirmed ? next : undefined;
    },
    committed(offset) {
      if (offset > confirmed) confirmed = offset;
    },
    isRewoundBy: (offset) => offset < confirmed,
    unfinished: () => held.size,
    lag: () => Math.max(0, Number(end - prefixEnd())),
    observeEnd(offset) {
      end = offset;
    },
    release: () => releasing.abort(),
  };
}
