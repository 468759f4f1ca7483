/** Numbers in groups: those of group g are at `values[starts[g]]` up to, but not including, `values[starts[g + 1]]`. */
export interface Grouped {
  readonly starts: Uint32Array;
  readonly values: Uint32Array;
}

/** Groups values by counting. Calls `each` twice; it must visit the same pairs in the same order, which groups keep. */
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

/** Adds a value to the list of a key. */
export function append<K>(lists: Map<K, number[]>, key: K, value: number): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** The first position from `start` up to `end` whose value is at least `least`; the values there ascend. */
export function lowerBound(values: Uint32Array, start: number, end: number, least: number): number {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The smallest power of two that is at least a number and at least 16. */
export function powerOfTwo(atLeast: number): number {
  return 2 ** Math.max(4, Math.ceil(Math.log2(Math.max(1, atLeast))));
}
