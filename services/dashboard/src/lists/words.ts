import { Decision, type Job, JobStatus, RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { type Html, html } from "../http/html.ts";
import { state } from "../ui/parts.ts";
import { numberText } from "../ui/vocabulary.ts";

/** Returns a number of rows, such as "1 row". */
export const rowsText = (count: number): string => (count === 1 ? "1 row" : `${numberText(count)} rows`);

/** Decisions by their public names: the value, the word for people, and the look. */
export const decisions = {
  pay: [Decision.PAY, "Pay", "pass"],
  hold: [Decision.HOLD, "Hold", "fail"],
  review: [Decision.REVIEW, "Review", "error"],
} as const;

export type DecisionName = keyof typeof decisions;

/** Outcomes by their public names: the value, and what it means. */
export const outcomes = {
  pass: [RowOutcome.PASS, "passed"],
  fail: [RowOutcome.FAIL, "failed"],
  error: [RowOutcome.ERROR, "no answer"],
  ambiguous: [RowOutcome.AMBIGUOUS, "several vendors match"],
  not_found: [RowOutcome.NOT_FOUND, "not found"],
  conflict: [RowOutcome.CONFLICT, "identifiers contradict"],
  invalid: [RowOutcome.INVALID, "could not be read"],
  limit_exceeded: [RowOutcome.LIMIT_EXCEEDED, "limit reached"],
  waiting: [RowOutcome.WAITING, "waits for a source"],
} as const;

export type OutcomeName = keyof typeof outcomes;

/** Returns the public name of a decision or an outcome. */
export function nameIn<N extends string>(
  names: Readonly<Record<N, readonly [value: number, ...unknown[]]>>,
  value: number,
): N | undefined {
  return (Object.keys(names) as N[]).find((name) => names[name][0] === value);
}

/** Renders a decision as a label. */
export function decisionState(decision: Decision): Html {
  const [, text, look] = decisions[nameIn(decisions, decision) ?? "review"];
  return state(look, text);
}

/** Returns the numbers of a job's rows by decision. */
export function decisionCounts({ pay, hold, counts }: Job): Readonly<Record<DecisionName, number>> {
  const known = Object.values(outcomeCounts(counts)).reduce((sum, count) => sum + count, 0);
  return { pay, hold, review: known - pay - hold };
}

/** Returns the numbers of a job's rows by outcome. */
export function outcomeCounts(counts: Job["counts"]): Readonly<Record<OutcomeName, number>> {
  const { pass = 0, fail = 0, error = 0, ambiguous = 0, notFound = 0 } = counts ?? {};
  const { conflict = 0, invalid = 0, limitExceeded = 0, waiting = 0 } = counts ?? {};
  return {
    pass,
    fail,
    error,
    ambiguous,
    not_found: notFound,
    conflict,
    invalid,
    limit_exceeded: limitExceeded,
    waiting,
  };
}

/** Returns whether a job will soon have news: not where all that is left waits for a source. */
export function isWorking(job: Job): boolean {
  const { waiting = 0 } = job.counts ?? {};
  // A job whose rows all have their answer ends a moment later.
  return isGoingOn(job) && (waiting === 0 || job.done + waiting < job.total);
}

export function isGoingOn({ status }: Job): boolean {
  return status === JobStatus.QUEUED || status === JobStatus.RUNNING;
}

/** Renders how far a job is. */
export function progress({ status, done, total }: Job): Html {
  if (status === JobStatus.COMPLETED) return state("delivered", "completed");
  if (status === JobStatus.CANCELED) return state("other", "canceled");
  return html`<progress max="${total}" value="${done}" aria-label="Rows with an answer"></progress> ${done} of ${total}`;
}
