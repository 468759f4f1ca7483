import { AsyncLocalStorage } from "node:async_hooks";

export interface Batching<T, R> {
  /** One round trip for all of them; answers in their order. */
  readonly run: (items: readonly T[]) => Promise<readonly R[]>;
  /** Bounds how long one round trip can get. */
  readonly maxSize: number;
  /** While so many are under way, what comes waits and shares the next one. */
  readonly atOnce: number;
  /** Errors that each item of a batch is told as its own; by any other, each is tried in a batch of its own. */
  readonly failsAll?: (error: unknown) => boolean;
}

interface Waiting<T, R> {
  readonly item: T;
  readonly done: PromiseWithResolvers<R>;
  /** Runs in the caller's context, so that what a batch does belongs to a call that it serves. */
  readonly inContext: <V>(work: () => V) => V;
}

/**
 * Shares round trips between those who come while others are under way: a busy service needs a few for many calls, an
 * idle one waits for nobody. No item fails for another's fault: where a batch of several fails, each is tried alone.
 * So `run` may see an item twice, the second time only after an error.
 */
export function createBatcher<T, R>({
  run,
  maxSize,
  atOnce,
  failsAll = () => false,
}: Batching<T, R>): (item: T) => Promise<R> {
  const queue: Waiting<T, R>[] = [];
  let running = 0;

  async function settle(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const answers = await run(batch.map(({ item }) => item));
      batch.forEach(({ done }, index) => {
        done.resolve(answers[index]!);
      });
    } catch (error) {
      if (batch.length === 1 || failsAll(error)) for (const { done } of batch) done.reject(error);
      else await Promise.all(batch.map((one) => one.inContext(() => settle([one]))));
    }
  }

  function next(): void {
    while (running < atOnce && queue.length > 0) {
      const batch = queue.splice(0, maxSize);
      running++;
      void batch[0]!
        .inContext(() => settle(batch))
        .finally(() => {
          running--;
          next();
        });
    }
  }

  return (item) => {
    const done = Promise.withResolvers<R>();
    queue.push({ item, done, inContext: AsyncLocalStorage.snapshot() });
    next();
    return done.promise;
  };
}
