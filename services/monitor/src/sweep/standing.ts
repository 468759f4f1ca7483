import { periodsMs } from "../model/frequency.ts";
import type { Confirmed, DataDates, MonitorDocument } from "../model/monitor.ts";
import { claimableAt, earliestExtra } from "../model/next-run.ts";
import type { SweepPosition } from "../model/position.ts";

// When a monitor stands, and what follows from that mark and how far the checks of its frequency have been made. Nothing is
// written for a check that finds the same.

/** A run that has ended, and the digest of its sam_registration, in hex; absent where that learned nothing. */
interface EndedRun {
  readonly runSeq: number;
  readonly at: Date;
  readonly digest?: string | undefined;
}

/** What is shown of a monitor's scheduled checks. */
export interface ScheduledChecks {
  /** When the next one is due; absent once the monitor is canceled. */
  readonly nextAt: Date | undefined;
  /** Those that confirmed the last run. */
  readonly confirmed: Confirmed | undefined;
  /** When the first one was due that could confirm nothing, since the data is overdue. */
  readonly staleSince: Date | undefined;
}

/**
 * Does the monitor stand after this run? It must be active, and the run its newest one and the second in a row that had an
 * answer: the first run is answered by other sources.
 */
export function stands({ status, checks, run_seq, last_run }: MonitorDocument, { runSeq, digest }: EndedRun): boolean {
  const isOnlyRegistration = checks.every((check) => check === "sam_registration");
  if (status !== "active" || !isOnlyRegistration || runSeq !== run_seq) return false;
  return digest !== undefined && last_run?.digest !== undefined;
}

/**
 * Returns until when a monitor stands after a run that changed: for one period. The real run after it finds the change again if
 * the record of this one was put aside.
 */
export function changeChecked({ frequency, last_run }: MonitorDocument, { at, digest }: EndedRun): { until?: Date } {
  return digest === last_run?.digest ? {} : { until: new Date(at.getTime() + periodsMs[frequency]) };
}

/** Are the monitor's scheduled checks made in bulk? */
export function isSwept({ standing }: Pick<MonitorDocument, "standing">): boolean {
  return standing?.offset_ms !== undefined;
}

/**
 * Returns a monitor that stands as one whose scheduled checks are made in bulk. Where a run is due already, or would be but for
 * a suspension, the next one stays a real run: the sweep may have passed its due time.
 */
export function withPlace(monitor: MonitorDocument, now: Date): MonitorDocument {
  const { standing, next_run_at, claimable_at, extras_wait } = monitor;
  if (!standing || !next_run_at || !claimable_at || claimable_at <= now || extras_wait) return monitor;
  const offset_ms = next_run_at.getTime() % periodsMs[monitor.frequency];
  const until = [standing.until, earliestExtra(monitor)?.at].flatMap((at) => at?.getTime() ?? []);
  return {
    ...monitor,
    standing: { ...standing, offset_ms, ...(until.length > 0 && { until: new Date(Math.min(...until)) }) },
  };
}

/** Returns what the position of its frequency says of a monitor's checks. */
export function scheduledChecks(monitor: MonitorDocument, position: SweepPosition | undefined): ScheduledChecks {
  const { next_run_at, last_run } = monitor;
  if (!isSwept(monitor) || !next_run_at || !position) {
    return { nextAt: next_run_at, confirmed: last_run?.confirmed, staleSince: undefined };
  }
  const periodMs = periodsMs[monitor.frequency];
  const first = next_run_at.getTime();
  /** Returns the number of checks due up to a time. */
  const count = (to: Date) => Math.max(0, Math.floor((to.getTime() - first) / periodMs) + 1);
  const nth = (number: number) => new Date(first + (number - 1) * periodMs);
  const { swept_to, confirmed_to } = position;
  const skipped = position.skipped.map(({ after, to }) => ({ before: count(after), last: count(to) }));
  const lastConfirmed = skipped.reduceRight(
    (number, { before, last }) => (number === last ? before : number),
    count(confirmed_to),
  );
  const times = skipped.reduce((number, { before, last }) => number - (last - before), count(confirmed_to));
  const firstStale = nth(count(confirmed_to) + 1);
  return {
    nextAt: nth(count(swept_to) + 1),
    confirmed: times > 0 ? confirmedAt(monitor, times, nth(lastConfirmed), position) : undefined,
    staleSince: firstStale <= swept_to ? firstStale : undefined,
  };
}

/** Returns a monitor whose scheduled checks are no longer made in bulk. Its last run keeps by which it was confirmed. */
export function withoutStanding(
  monitor: MonitorDocument,
  position: SweepPosition | undefined,
  runTimeoutMs: number,
): MonitorDocument {
  const { standing: _, ...rest } = monitor;
  if (!isSwept(monitor)) return rest;
  const { nextAt, confirmed } = scheduledChecks(monitor, position);
  const ended = {
    ...rest,
    ...(nextAt && { next_run_at: nextAt }),
    ...(monitor.last_run && { last_run: { ...monitor.last_run, ...(confirmed && { confirmed }) } }),
  };
  const claimable_at = claimableAt(ended, runTimeoutMs);
  return { ...ended, ...(claimable_at && { claimable_at }) };
}

function confirmedAt({ last_run }: MonitorDocument, times: number, last_at: Date, position: SweepPosition): Confirmed {
  const { after: _, ...data } = position.data.findLast(({ after }) => after < last_at) ?? { after: last_at };
  const data_as_of = newest(last_run?.data_as_of, data);
  return { times, last_at, ...(data_as_of && { data_as_of }) };
}

/** Returns the newer of each date: an answer of SAM.gov may be newer than the file. */
function newest(run: DataDates | undefined, files: DataDates): DataDates | undefined {
  if (!run) return undefined;
  const newer = (a: Date | undefined, b: Date | undefined) => (a && b && a > b ? a : (b ?? a));
  const registration = newer(run.registration, files.registration);
  const exclusions = newer(run.exclusions, files.exclusions);
  return { ...(registration && { registration }), ...(exclusions && { exclusions }) };
}
