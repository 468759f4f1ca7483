/** Numbers in groups: those of group g stand at `values[starts[g]]` up to, and without, `values[starts[g + 1]]`. */
export interface Grouped {
  readonly starts: Uint32Array;
  readonly values: Uint32Array;
}

/**
 * Groups values by counting, in two passes over the same pairs, which `each` must tell in the same order both times.
 * Values of a group keep that order.
 */
export function groupBy(groupCount: number, each: (visit: (group: number, value: number) => void) => void): Grouped {
  const starts = new Uint32Array(groupCount + 1);
  each((group) => {
    starts[group + 1]!++;
  });
  for (let group = 0; group < groupCount; group++) starts[group + 1]! += starts[group]!;
  const values = new Uint32Array(starts[groupCount]!);
  const next = starts.slice(0, groupCount);
  each((group, value) => {
    values[next[group]!++] = value;
  });
  return { starts, values };
}

/** The first place from `start` up to `end` whose value is not below `least`; the values there ascend. */
export function lowerBound(values: Uint32Array, start: number, end: number, least: number): number {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The power of two that is not below a number, at least 16. */
export function powerOfTwo(atLeast: number): number {
  return 2 ** Math.max(4, Math.ceil(Math.log2(Math.max(1, atLeast))));
}
