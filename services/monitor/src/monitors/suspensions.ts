import type { Logger } from "@vvs/logging";
import { pause, superviseLoop } from "@vvs/retry";

/** Pause between two requests to account, and between two searches for what waited for its answer, in milliseconds. */
const POLL_MS = 2_000;
/**
 * Maximum time after the start in which no run begins because account has not answered yet, in milliseconds. Until then monitors of
 * suspended organizations would run. After it monitors of all others would be late, and a long outage of account must not stop them.
 */
const FIRST_ANSWER_MS = 5 * 60_000;

/**
 * Makes the extra runs due that waited for the end of a suspension, every two seconds until stopped. So a suspension that ended
 * while no replica ran, or while another one still skipped runs, is noticed too.
 */
export function runResumption(options: {
  /** Returns the ids of all suspended organizations; undefined while they are unknown: then none is resumed. */
  all: () => readonly string[] | undefined;
  resumeExtras: (suspended: readonly string[]) => Promise<unknown>;
  stopping: AbortSignal;
  logger: Logger;
  pollMs?: number;
}): Promise<void> {
  const { all, resumeExtras, stopping, logger, pollMs = POLL_MS } = options;
  const loop = superviseLoop({
    async round() {
      const suspended = all();
      if (suspended) await resumeExtras(suspended);
      return pollMs;
    },
    failure: "resuming extra runs after suspensions fails; retrying",
    recovery: "resuming extra runs after suspensions succeeds again",
    stopping,
    logger,
  });
  return loop.ended();
}

/**
 * Reads the suspended organizations from account every two seconds until stopped. While account is unavailable, the last
 * known set stays in effect.
 */
export function followSuspensions(options: {
  /** Returns the ids of all suspended organizations. */
  ask: () => Promise<readonly string[]>;
  stopping: AbortSignal;
  logger: Logger;
  pollMs?: number;
  firstAnswerMs?: number;
}) {
  const { ask, stopping, logger, pollMs = POLL_MS, firstAnswerMs = FIRST_ANSWER_MS } = options;
  const answered = Promise.withResolvers<void>();
  let suspended: ReadonlySet<string> | undefined;

  superviseLoop({
    async round() {
      suspended = new Set(await ask());
      answered.resolve();
      return pollMs;
    },
    failure: "reading the suspended organizations fails; the last known ones stay in effect",
    recovery: "reading the suspended organizations succeeds again",
    backoff: { firstMs: pollMs, longestMs: pollMs },
    stopping,
    logger,
  });
  return {
    isSuspended: (organizationId: string): boolean => suspended?.has(organizationId) ?? false,
    /** Returns the ids of all suspended organizations; undefined before account's first answer. */
    all: (): string[] | undefined => suspended && [...suspended],
    /** Resolves with account's first answer, or after a time limit without one. Then no organization counts as suspended. */
    firstAnswer: (): Promise<void> => Promise.race([answered.promise, pause(firstAnswerMs, stopping)]),
  };
}
