/** Creates queues by key: tasks of one key run one after another, tasks of different keys at the same time. */
export function createKeyedQueues() {
  const ends = new Map<string, Promise<void>>();
  return {
    /** Adds a task to the end of the key's queue. The task must not reject. */
    add(key: string, task: () => Promise<void>): void {
      const end = (ends.get(key) ?? Promise.resolve()).then(task).then(() => {
        if (ends.get(key) === end) ends.delete(key);
      });
      ends.set(key, end);
    },
    /** Resolves when every task that was added has ended. */
    async idle(): Promise<void> {
      while (ends.size > 0) await Promise.all(ends.values());
    },
  };
}

/** Returns a function that runs at most `size` tasks at the same time; the others wait in the order they came. */
export function createConcurrencyLimit(size: number): <T>(task: () => Promise<T>) => Promise<T> {
  let free = size;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
