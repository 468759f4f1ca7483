/**
 * What this consumer has of one partition: which records it holds, and up to where all are done. Only that contiguous
 * prefix may be committed, as the offset after it.
 */
export interface Partition {
  readonly topic: string;
  readonly partition: number;
  /** Aborted when the partition goes to another consumer, or this one stops: what has not begun is dropped. */
  readonly released: AbortSignal;
  /** Takes a record that was read. False: it is held already, or done (the group re-reads from the last commit). */
  accept(offset: bigint): boolean;
  /** Its effect is stored, so it may be committed. */
  finish(offset: bigint): void;
  /** The offset to commit; undefined while there is nothing new. */
  committable(): bigint | undefined;
  /** The broker has stored this commit. */
  committed(offset: bigint): void;
  /** Was the log rewound (the topic made anew, or its offsets set back), if it starts again at this offset? */
  isRewoundBy(offset: bigint): boolean;
  /** Records held and not done. */
  unfinished(): number;
  /** Records between what is done and the end of the log as last seen. */
  lag(): number;
  /** The end of the log, as the broker told. */
  observeEnd(offset: bigint): void;
  release(): void;
}

export function createPartition(topic: string, partition: number, start: bigint): Partition {
  const releasing = new AbortController();
  // In the order of reading, so the first is the lowest.
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
