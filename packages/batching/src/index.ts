import { AsyncResource } from "node:async_hooks";
import { currentDeadline, type Deadline, earliest, isTooLate, timerMs, tooLate, underDeadline } from "@vvs/deadline";
import { isOutcomeUnknown } from "@vvs/errors";
import { seatless } from "@vvs/fair-queue";

export { byKey } from "./by-key.ts";
export { inBatches } from "./in-batches.ts";

export interface Batching<T, R> {
  /** Processes items in one round trip; returns the results in the same order. */
  readonly run: (items: readonly T[]) => Promise<readonly R[]>;
  /** Maximum number of items in a batch. */
  readonly maxSize: number;
  /** Maximum number of batches at the same time. Meanwhile, further items wait and share the next batch. */
  readonly atOnce: number;
  /**
   * Returns whether an error applies to every item of a batch. After any other error, each item is tried on its own.
   */
  readonly failsAll?: (error: unknown) => boolean;
}

interface Waiting<T, R> {
  readonly item: T;
  readonly done: PromiseWithResolvers<R>;
  readonly deadline: Deadline | undefined;
  /** The caller's async context, so that a batch belongs to a call that it serves. */
  readonly context: AsyncResource;
}

/**
 * Returns a function that processes an item in a batch with the items that arrive in the same turn of the event loop, or while
 * other batches are running. A busy service needs few round trips for many calls, and an idle one does not wait. No item
 * fails because of another: if a batch of several items fails, each is tried on its own. So `run` may get an item a second
 * time, but only after an error. A batch has the earliest deadline of its items; if it is refused for that reason, it is
 * tried again without the items whose time is over. A batch holds no seat of the fair queue; the calls that wait for it do.
 * Errors: service_unavailable for an item that waited until its time was over.
 */
export function createBatcher<T, R>({
  run,
  maxSize,
  atOnce,
  failsAll = () => false,
}: Batching<T, R>): (item: T) => Promise<R> {
  const queue = new Set<Waiting<T, R>>();
  let running = 0;
  let isGathering = false;

  async function settle(batch: readonly Waiting<T, R>[]): Promise<void> {
    const first = earliest(batch.map(({ deadline }) => deadline));
    try {
      const answers = await underDeadline(first, () => run(batch.map(({ item }) => item)));
      batch.forEach(({ done }, index) => {
        done.resolve(answers[index]!);
      });
    } catch (error) {
      const late = batch.filter(({ deadline }) => isTooLate(deadline));
      const wasRefused = late.length > 0 && late.length < batch.length && !isOutcomeUnknown(error);
      if (wasRefused) {
        for (const { done } of late) done.reject(error);
        await settleInContext(batch.filter((one) => !late.includes(one)));
      } else if (batch.length === 1 || failsAll(error)) for (const { done } of batch) done.reject(error);
      else await Promise.all(batch.map((one) => settleInContext([one])));
    }
  }

  function settleInContext(batch: readonly Waiting<T, R>[]): Promise<void> {
    return batch[0]!.context.runInAsyncScope(() => seatless(() => settle(batch)));
  }

  function next(): void {
    while (running < atOnce && queue.size > 0) {
      const batch: Waiting<T, R>[] = [];
      for (const one of queue) {
        queue.delete(one);
        if (batch.push(one) === maxSize) break;
      }
      running++;
      void settleInContext(batch).finally(() => {
        running--;
        next();
      });
    }
  }

  /** Begins batches at the end of this turn of the event loop, in which other calls may come. */
  function gather(): void {
    if (isGathering || running >= atOnce) return;
    isGathering = true;
    setImmediate(() => {
      isGathering = false;
      next();
    });
  }

  function dropWhenLate(waiting: Waiting<T, R>, { writesEndAt }: Deadline): void {
    const drop = () => {
      if (queue.delete(waiting)) waiting.done.reject(tooLate());
    };
    const timer = setTimeout(drop, timerMs(writesEndAt));
    const stop = () => clearTimeout(timer);
    waiting.done.promise.then(stop, stop);
  }

  return (item) => {
    const deadline = currentDeadline();
    const waiting: Waiting<T, R> = {
      item,
      done: Promise.withResolvers<R>(),
      deadline,
      context: new AsyncResource("batched"),
    };
    queue.add(waiting);
    gather();
    if (deadline) dropWhenLate(waiting, deadline);
    return waiting.done.promise;
  };
}
