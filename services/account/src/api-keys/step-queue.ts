/** Steps that wait for one reader; whoever writes never waits. */
export interface StepQueue<T> {
  readonly size: number;
  push(item: T): void;
  /** What waits is dropped and the reader gets the error. */
  fail(error: Error): void;
  /** What waits now. Errors: the one it failed with. */
  take(): readonly T[];
  /** Yields what comes until the signal aborts. Errors: the one it failed with. */
  drain(signal: AbortSignal): AsyncGenerator<T>;
}

/** A queue that fails rather than hold more than `limit` items for a reader that is too slow. */
export function createStepQueue<T>(limit: number): StepQueue<T> {
  let waiting: T[] = [];
  let failure: Error | undefined;
  let wake = () => {};

  function fail(error: Error): void {
    failure ??= error;
    waiting = [];
    wake();
  }

  function take(): readonly T[] {
    if (failure) throw failure;
    const batch = waiting;
    waiting = [];
    return batch;
  }

  return {
    get size() {
      return waiting.length;
    },
    push(item) {
      if (failure) return;
      waiting.push(item);
      if (waiting.length > limit) fail(new Error(`a reader left ${limit} steps unread`));
      wake();
    },
    fail,
    take,
    async *drain(signal) {
      signal.addEventListener("abort", () => wake(), { once: true });
      while (!signal.aborted) {
        yield* take();
        if (waiting.length > 0 || failure || signal.aborted) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
