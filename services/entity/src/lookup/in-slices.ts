import { setImmediate as nextLoop } from "node:timers/promises";

/** Time after which other calls of this process have their turn, in milliseconds. */
const SLICE_MS = 2;

/**
 * Maps the items like Array.map, but lets other calls run in between: long computations would delay all of them.
 * `nextTurn` resolves when it is this call's turn again.
 */
export async function mapInSlices<T, R>(
  items: readonly T[],
  map: (item: T, index: number) => R,
  nextTurn: () => Promise<void>,
  clock: () => number = () => performance.now(),
): Promise<R[]> {
  const mapped: R[] = [];
  let endsAt = clock() + SLICE_MS;
  for (const [index, item] of items.entries()) {
    mapped.push(map(item, index));
    if (clock() < endsAt) continue;
    await nextTurn();
    endsAt = clock() + SLICE_MS;
  }
  return mapped;
}

/**
 * Creates the `nextTurn` of all computations of a process: only one of them continues in each turn of the event loop. So another
 * call waits for one slice, even if there are many computations.
 */
export function oneSlicePerLoop(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => nextLoop());
    return last;
  };
}
