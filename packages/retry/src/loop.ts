import type { Logger } from "@vvs/logging";
import { type Backoff, backoffMs } from "./backoff.ts";
import { pause } from "./pause.ts";

const DEFAULT_BACKOFF: Backoff = { firstMs: 1_000, longestMs: 1_000 };

/** Work that is repeated until its service stops. */
export interface SupervisedLoop {
  /** Starts the next round now. During a round: another one follows it without a pause. */
  nudge(): void;
  /** Resolves when the loop was stopped and its last round has ended. */
  ended(): Promise<void>;
}

/**
 * Repeats `round` until `stopping` is aborted. A round returns how long to pause after it, in milliseconds. When a round
 * throws, the loop logs `failure` with the error, once, and tries again with backoff; the first round that succeeds
 * again is logged as `recovery`.
 */
export function superviseLoop(options: {
  round: () => Promise<number>;
  /** Log message of the first failure in a row; a constant, so that it can be searched for. */
  failure: string;
  /** Log message of the recovery. */
  recovery: string;
  /** 1 s after every failure where absent. */
  backoff?: Backoff;
  stopping: AbortSignal;
  logger: Logger;
  random?: () => number;
}): SupervisedLoop {
  const { round, stopping, logger, backoff = DEFAULT_BACKOFF } = options;
  let wake = new AbortController();

  /** Runs one round; returns how many rounds have failed in a row by then, and how long to pause. */
  async function attempt(failures: number): Promise<{ failures: number; pauseMs: number }> {
    try {
      const pauseMs = await round();
      if (failures > 0) logger.info(options.recovery);
      return { failures: 0, pauseMs };
    } catch (err) {
      if (failures === 0) logger.error({ err }, options.failure);
      return { failures: failures + 1, pauseMs: backoffMs(failures + 1, backoff, options.random) };
    }
  }

  async function run(): Promise<void> {
    for (let failures = 0; !stopping.aborted; ) {
      wake = new AbortController();
      const outcome = await attempt(failures);
      failures = outcome.failures;
      await pause(outcome.pauseMs, AbortSignal.any([wake.signal, stopping]));
    }
  }

  const running = run();
  return { nudge: () => wake.abort(), ended: () => running };
}
