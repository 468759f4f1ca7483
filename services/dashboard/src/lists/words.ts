import { type Decision, decisionOf, type RowOutcome } from "@vvs/jobs";
import { type Job, type JobResult, JobStatus } from "@vvs/proto/verification/v1/jobs";
import { type Html, html } from "../http/html.ts";
import { state } from "../ui/parts.ts";
import { decisionLabels } from "../verdicts/certified-decision.ts";

const decisionLooks: Readonly<Record<Decision, string>> = { pay: "pass", hold: "fail", review: "error" };

/** Outcomes in words. */
export const outcomeTexts: Readonly<Record<RowOutcome, string>> = {
  pass: "passed",
  fail: "failed",
  error: "no answer",
  ambiguous: "no certain match",
  not_found: "not found",
  conflict: "identifiers contradict",
  invalid: "could not be read",
  limit_exceeded: "limit reached",
  waiting: "waits for a source",
};

/** Renders a row's decision as a label. */
export function decisionState({ decision }: JobResult): Html {
  const name = decisionOf(decision) ?? "review";
  return state(decisionLooks[name], decisionLabels[name]);
}

/** Returns the numbers of a job's rows by decision. */
export function decisionCounts({ pay, hold, counts }: Job): Readonly<Record<Decision, number>> {
  const known = Object.values(outcomeCounts(counts)).reduce((sum, count) => sum + count, 0);
  return { pay, hold, review: known - pay - hold };
}

/** Returns the numbers of a job's rows by outcome. */
export function outcomeCounts(counts: Job["counts"]): Readonly<Record<RowOutcome, number>> {
  const { pass = 0, fail = 0, error = 0, ambiguous = 0, notFound: not_found = 0 } = counts ?? {};
  const { conflict = 0, invalid = 0, limitExceeded: limit_exceeded = 0, waiting = 0 } = counts ?? {};
  return { pass, fail, error, ambiguous, not_found, conflict, invalid, limit_exceeded, waiting };
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
