/** Work in which tasks of one lane run one after another, and tasks of different lanes at once. */
export interface Lanes {
  /** Adds a task to the end of a lane. It must not reject. */
  add(lane: string, task: () => Promise<void>): void;
  /** Resolves when everything that was added is done. */
  idle(): Promise<void>;
}

export function createLanes(): Lanes {
  const ends = new Map<string, Promise<void>>();
  return {
    add(lane, task) {
      const end = (ends.get(lane) ?? Promise.resolve()).then(task).then(() => {
        if (ends.get(lane) === end) ends.delete(lane);
      });
      ends.set(lane, end);
    },
    async idle() {
      while (ends.size > 0) await Promise.all(ends.values());
    },
  };
}

/** Lets at most `size` pieces of work run at once; the others wait in the order they came. */
export function createSlots(size: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = size;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
