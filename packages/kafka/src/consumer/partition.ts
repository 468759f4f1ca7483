export type Partition = ReturnType<typeof createPartition>;

/**
 * State of one assigned partition: its unfinished records, and the offset up to which all records are done. Only that
 * contiguous prefix may be committed, as the offset after it.
 */
export function createPartition(topic: string, partition: number, start: bigint) {
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
    /** Aborted when another consumer gets the partition or this one stops: records that have not begun are dropped. */
    released: releasing.signal,
    /** Takes a record that was read. Returns false if it is known already: the group reads again from its last commit. */
    accept(offset: bigint): boolean {
      if (offset < position) return false;
      held.add(offset);
      position = offset + 1n;
      return true;
    },
    /** Marks a record as done: its effect is stored, so it may be committed. */
    finish: (offset: bigint) => void held.delete(offset),
    /** Returns the offset to commit, or undefined if there is nothing new. */
    committable(): bigint | undefined {
      const next = prefixEnd();
      return next > confirmed ? next : undefined;
    },
    /** Notes that the broker has stored this commit. */
    committed(offset: bigint): void {
      if (offset > confirmed) confirmed = offset;
    },
    /** Returns whether a read from this offset means that the log was rewound: a new topic, or offsets set back. */
    isRewoundBy: (offset: bigint) => offset < confirmed,
    /** Returns the number of records that were taken and are not done. */
    unfinished: () => held.size,
    /** Returns the number of records between the finished ones and the last known end of the log. */
    lag: () => Math.max(0, Number(end - prefixEnd())),
    /** Notes the end of the log that the broker reported. */
    observeEnd(offset: bigint): void {
      end = offset;
    },
    release: () => releasing.abort(),
  };
}
