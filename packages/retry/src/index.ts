import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@vvs/logging";

/** How long to wait between attempts, in milliseconds. */
export interface Backoff {
  /** After the first failure. */
  readonly firstMs: number;
  /** The wait doubles with each further failure, up to this. */
  readonly longestMs: number;
}

/** More doublings than any backoff needs, so that the exponent cannot overflow. */
const MAX_DOUBLINGS = 30;

/**
 * Returns how long to wait after `failures` failures in a row (1 or more), in milliseconds. The result is random between
 * half of the wait and all of it, so that callers that failed together do not come back together. `random` returns 0–1.
 */
export function backoffMs(failures: number, backoff: Backoff, random: () => number = Math.random): number {
  const whole = Math.min(backoff.longestMs, backoff.firstMs * 2 ** Math.min(failures - 1, MAX_DOUBLINGS));
  return whole * (0.5 + random() / 2);
}

/** Waits for `ms` milliseconds, or until the signal is aborted. Never throws. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}

/**
 * Waits for work, at most `ms` milliseconds. A process that was busy the whole time first reads what arrived meanwhile.
 * Errors: those of `work`; one with `message` if it takes longer.
 */
export function within<T>(ms: number, message: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(message));
    const timer = setTimeout(() => setImmediate(late), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Work that is repeated until it is done or its service stops. */
export interface SupervisedLoop {
  /**
   * Starts the next round now. During a round: another one follows it without a pause, unless the work is done. After a
   * failure the round still waits for its backoff.
   */
  nudge(): void;
  /** Resolves when the work is done, or the loop was stopped and its last round has ended. */
  ended(): Promise<void>;
}

/**
 * Repeats `round` until `stopping` is aborted. A round returns how long to pause after it, in milliseconds, or "done" to end
 * the loop. When a round throws, the loop logs `failure` with the error, once, and tries again with backoff; the first round that succeeds
 * again is logged as `recovery`.
 */
export function superviseLoop(options: {
  round: () => Promise<number | "done">;
  /** Log message of the first failure in a row; a constant, so that it can be searched for. */
  failure: string;
  /** Log message of the recovery. */
  recovery: string;
  /** 1 s after every failure where absent. */
  backoff?: Backoff;
  stopping: AbortSignal;
  logger: Logger;
}): SupervisedLoop {
  const { round, stopping, logger, backoff = { firstMs: 1_000, longestMs: 1_000 } } = options;
  let wake = new AbortController();
  let failures = 0;

  /** Runs one round and the pause after it. Returns false if the work is done. */
  async function goesOn(): Promise<boolean> {
    try {
      const next = await round();
      if (failures > 0) logger.info(options.recovery);
      failures = 0;
      if (next === "done") return false;
      await pause(next, AbortSignal.any([wake.signal, stopping]));
    } catch (err) {
      if (failures === 0) logger.error({ err }, options.failure);
      failures += 1;
      await pause(backoffMs(failures, backoff), stopping);
    }
    return true;
  }

  async function run(): Promise<void> {
    while (!stopping.aborted) {
      wake = new AbortController();
      if (!(await goesOn())) return;
    }
  }

  const running = run();
  return {
    nudge() {
      // Each abort makes an error with a stack trace, also a repeated one.
      if (!wake.signal.aborted) wake.abort();
    },
    ended: () => running,
  };
}
