import { callerHangUp, currentDeadline, isTooLate, timerMs, tooLate } from "@vvs/deadline";
import { ServiceError } from "@vvs/errors";

/**
 * Who asks for work. Known are people with a session, the link of an email or a device that signed in before; their work
 * comes first, and strangers can't take their places in the queue.
 */
export type Asker = "known" | "stranger";

const TRY_AGAIN_SECONDS = 2;

/** Runs a piece of work when it is its turn. */
export type RunInTurn = <T>(asker: Asker, work: () => Promise<T>) => Promise<T>;

export interface WorkPool extends RunInTurn {
  /** Refuses what the pool would refuse now, before anything is read for it. Errors: rate_limited. */
  refuseBusy(asker: Asker): void;
}

/**
 * Creates a pool for work that costs much, such as hashes of passwords: at most `atOnce` pieces run at the same time, and
 * at most `maxWaiting` of each asker wait. After a stranger's work its place stays closed to strangers for as long as it
 * took, so that a flood of them takes half of the pool's time. Errors of its function: rate_limited if too many wait;
 * service_unavailable if the caller hung up or its deadline passed meanwhile. Such work does not begin, and its place is
 * free at once.
 */
export function createWorkPool({ atOnce, maxWaiting }: { atOnce: number; maxWaiting: number }): WorkPool {
  const queues = { known: new Set<() => void>(), stranger: new Set<() => void>() };
  let running = 0;
  let closedToStrangers = 0;

  const hasPlace = (asker: Asker) => running + (asker === "stranger" ? closedToStrangers : 0) < atOnce;

  function refuseBusy(asker: Asker): void {
    if (queues[asker].size >= maxWaiting) throw tooBusy();
  }

  function startWaiting(): void {
    for (const asker of ["known", "stranger"] as const) {
      for (const start of queues[asker]) {
        if (!hasPlace(asker)) break;
        queues[asker].delete(start);
        start();
      }
    }
  }

  function leave(asker: Asker, durationMs: number): void {
    running--;
    if (asker === "stranger") {
      closedToStrangers++;
      setTimeout(() => {
        closedToStrangers--;
        startWaiting();
      }, durationMs).unref();
    }
    startWaiting();
  }

  async function turn(asker: Asker): Promise<void> {
    const queue = queues[asker];
    if (queue.size === 0 && hasPlace(asker)) {
      running++;
      return;
    }
    refuseBusy(asker);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      running++;
      resolve();
    };
    const giveUp = () => {
      if (queue.delete(start)) reject(tooLate());
    };
    const [gone, deadline] = [callerHangUp(), currentDeadline()];
    const timer = deadline && setTimeout(giveUp, timerMs(deadline.writesEndAt));
    gone?.addEventListener("abort", giveUp, { once: true });
    queue.add(start);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      gone?.removeEventListener("abort", giveUp);
    }
  }

  async function runInTurn<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    refuseGone();
    await turn(asker);
    const began = performance.now();
    try {
      refuseGone();
      return await work();
    } finally {
      leave(asker, performance.now() - began);
    }
  }

  return Object.assign(runInTurn, { refuseBusy });
}

function refuseGone(): void {
  if (callerHangUp()?.aborted || isTooLate(currentDeadline())) throw tooLate();
}

function tooBusy(): ServiceError {
  const message = "Too many people are signing in right now. Try again in a few seconds.";
  return new ServiceError("rate_limited", { message, retryAfterSeconds: TRY_AGAIN_SECONDS });
}
