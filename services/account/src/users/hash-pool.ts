import { callerHangUp, currentDeadline, isTooLate, timerMs, tooLate } from "@vvs/deadline";
import { ServiceError } from "@vvs/errors";

/**
 * Who asks for a hash. Known are people with a session, the link of an email or a device that signed in before; their
 * hashes come first, and strangers can't take their places in the queue.
 */
export type Asker = "known" | "stranger";

const TRY_AGAIN_SECONDS = 2;

export type HashPool = ReturnType<typeof createHashPool>;

/**
 * Creates a pool that computes hashes, at most `atOnce` of them at the same time; at most `maxWaiting` of each asker
 * wait. Errors of its function: rate_limited if too many wait; service_unavailable if the caller hung up or its deadline
 * passed meanwhile. Such a hash is not computed, and its place is free at once.
 */
export function createHashPool({ atOnce, maxWaiting }: { atOnce: number; maxWaiting: number }) {
  const queues = { known: new Set<() => void>(), stranger: new Set<() => void>() };
  let running = 0;

  function next(): void {
    const queue = queues.known.size > 0 ? queues.known : queues.stranger;
    const [start] = queue;
    if (!start) return;
    queue.delete(start);
    start();
  }

  async function turn(asker: Asker): Promise<void> {
    const queue = queues[asker];
    if (running < atOnce) {
      running++;
      return;
    }
    if (queue.size >= maxWaiting) throw tooBusy();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      running++;
      resolve();
    };
    const leave = () => {
      if (queue.delete(start)) reject(tooLate());
    };
    const [gone, deadline] = [callerHangUp(), currentDeadline()];
    const timer = deadline && setTimeout(leave, timerMs(deadline.writesEndAt));
    gone?.addEventListener("abort", leave, { once: true });
    queue.add(start);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      gone?.removeEventListener("abort", leave);
    }
  }

  return async <T>(asker: Asker, hash: () => Promise<T>): Promise<T> => {
    refuseGone();
    await turn(asker);
    try {
      refuseGone();
      return await hash();
    } finally {
      running--;
      next();
    }
  };
}

function refuseGone(): void {
  if (callerHangUp()?.aborted || isTooLate(currentDeadline())) throw tooLate();
}

function tooBusy(): ServiceError {
  const message = "Too many people are signing in right now. Try again in a few seconds.";
  return new ServiceError("rate_limited", { message, retryAfterSeconds: TRY_AGAIN_SECONDS });
}
