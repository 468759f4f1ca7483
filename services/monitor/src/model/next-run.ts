import { addDays, isDay, startOfRegistryDay } from "@vvs/registration";
import type { Environment } from "@vvs/tenant";
import { type FastClock, nextDueAt } from "./frequency.ts";
import type { MonitorDocument, RunCause } from "./monitor.ts";
import { spreadMs } from "./spread.ts";

// When a monitor's next run is due. Beside the schedule there are four extra runs, which leave the schedule as it is.

/** Settings that the schedules of an environment's monitors depend on. */
export interface ScheduleOptions {
  readonly environment: Environment;
  readonly fastClock: FastClock;
  /** How long a run that has not ended delays the next one, in milliseconds. */
  readonly runTimeoutMs: number;
}

type DueTimes = Pick<
  MonitorDocument,
  "next_run_at" | "first_run_at" | "expiry_run_at" | "exclusion_run_at" | "file_run" | "extras_wait"
>;

/** Runs of the day after an expiration date, and of an exclusion's first day, are spread over this time, in milliseconds. */
const DAY_RUN_SPREAD_MS = 6 * 60 * 60 * 1_000;
/** An answer stored this soon after midnight may have been judged before it, in milliseconds. */
const MIDNIGHT_MS = 60_000;
/**
 * Time from midnight in Washington to the first of these runs, in milliseconds. So an answer to one is not stored too soon after midnight
 * to count, by a clock that is up to a minute behind: the run would be made again and again.
 */
const DAY_RUN_START_MS = 2 * MIDNIGHT_MS;

/** Does this id of a load stand for answers of SAM.gov's API? */
export const isOfAnswers = (loadId: string): boolean => loadId.startsWith("answers:");

interface DueRun {
  readonly cause: RunCause;
  readonly at: Date;
}

/** Returns why and when the next run is due; undefined for a canceled monitor. */
export function earliestDue(monitor: DueTimes): DueRun | undefined {
  if (!monitor.next_run_at) return undefined;
  const scheduled: DueRun = { cause: "schedule", at: monitor.next_run_at };
  const extra = earliestExtra(monitor);
  return extra && extra.at < scheduled.at && !monitor.extras_wait ? extra : scheduled;
}

/** Returns why and when the next extra run is due, if one is to come. */
export function earliestExtra(monitor: DueTimes): DueRun | undefined {
  return extraRuns(monitor).toSorted((a, b) => a.at.getTime() - b.at.getTime())[0];
}

function extraRuns({ first_run_at, expiry_run_at, exclusion_run_at, file_run }: DueTimes): DueRun[] {
  const runs: readonly (readonly [RunCause, Date | undefined])[] = [
    ["creation", first_run_at],
    ["expiry", expiry_run_at],
    ["exclusion", exclusion_run_at],
    [file_run && isOfAnswers(file_run.load_id) ? "answer" : "file", file_run?.at],
  ];
  return runs.flatMap(([cause, at]) => (at ? { cause, at } : []));
}

/**
 * Returns when the next run may be claimed: once it is due, and the open run has ended or delays it no longer. Undefined
 * for a canceled monitor.
 */
export function claimableAt(
  monitor: DueTimes & Pick<MonitorDocument, "open_run">,
  runTimeoutMs: number,
): Date | undefined {
  const due = earliestDue(monitor);
  if (!due || !monitor.open_run) return due?.at;
  return new Date(Math.max(due.at.getTime(), monitor.open_run.claimed_at.getTime() + runTimeoutMs));
}

/** Returns when the first run by the schedule after now is due, and when the monitor's next run may be claimed. */
export function nextRun(
  { environment, fastClock, runTimeoutMs }: ScheduleOptions,
  monitor: Pick<MonitorDocument, "_id" | "frequency" | "created_at" | "last_due_at" | "open_run"> & DueTimes,
  now: Date,
): { next_run_at: Date; claimable_at: Date } {
  const { _id: monitorId, frequency, created_at: createdAt, last_due_at: lastDueAt } = monitor;
  const next_run_at = nextDueAt({ monitorId, environment, frequency, createdAt, lastDueAt }, now, fastClock);
  return { next_run_at, claimable_at: claimableAt({ ...monitor, next_run_at }, runTimeoutMs)! };
}

/**
 * Returns a due monitor after the claim of its next run. The run is also the extra run of the file that the monitor names,
 * which was loaded before the record of it came; the file stays noted, so that a repeated record has no effect.
 */
export function afterClaim(options: ScheduleOptions, seen: MonitorDocument, at: Date): MonitorDocument {
  const open_run = { run_seq: seen.run_seq + 1, claimed_at: at };
  const {
    first_run_at: _,
    extras_wait: _waited,
    standing: _stood,
    expiry_run_at,
    exclusion_run_at,
    file_run,
    ...rest
  } = seen;
  const claimed = {
    ...rest,
    ...(expiry_run_at && expiry_run_at > at && { expiry_run_at }),
    ...(exclusion_run_at && exclusion_run_at > at && { exclusion_run_at }),
    ...(file_run && { file_run: withoutTime(file_run) }),
    run_seq: open_run.run_seq,
    open_run,
  };
  return afterSchedule(options, claimed, at);
}

function withoutTime({ at: _, ...noted }: NonNullable<MonitorDocument["file_run"]>) {
  return noted;
}

/** Returns a due monitor of a suspended organization after its next run was skipped. Its extra runs wait. */
export function afterSkip(options: ScheduleOptions, seen: MonitorDocument, at: Date): MonitorDocument {
  const isExtraDue = extraRuns(seen).some((extra) => extra.at <= at);
  const { standing: _, ...rest } = seen;
  return afterSchedule(options, { ...rest, ...(isExtraDue && { extras_wait: true }) }, at);
}

/** Returns the monitor as canceled, with no more runs due. */
export function afterCancel(monitor: MonitorDocument, at: Date): MonitorDocument {
  const { next_run_at: _next, claimable_at: _claimable, extras_wait: _waits, standing: _stood, ...rest } = monitor;
  const { first_run_at: _first, expiry_run_at: _expiry, exclusion_run_at: _exclusion, file_run: _file, ...kept } = rest;
  return { ...kept, status: "canceled", canceled_at: at };
}

/** Moves the schedule to its next due time, if this one has passed. */
function afterSchedule(options: ScheduleOptions, monitor: MonitorDocument, at: Date): MonitorDocument {
  if (monitor.next_run_at! > at) return { ...monitor, claimable_at: claimableAt(monitor, options.runTimeoutMs) };
  const moved = { ...monitor, last_due_at: monitor.next_run_at! };
  return { ...moved, ...nextRun(options, moved, at) };
}

/**
 * Returns when the extra run after an expiration date (YYYY-MM-DD) is due: on the next day. Undefined if the text is no date,
 * or if the answer came after that day, and so knew that the registration had expired.
 */
export function expiryRunAt(monitorId: string, expirationDate: string, answeredAt: Date): Date | undefined {
  return isDay(expirationDate) ? runOnDay(monitorId, addDays(expirationDate, 1), answeredAt) : undefined;
}

/**
 * Returns when the extra run for the next exclusion that begins is due: on the earliest of these first days (YYYY-MM-DD) that
 * the answer did not know yet. Undefined where there is none.
 */
export function exclusionRunAt(monitorId: string, firstDays: readonly string[], answeredAt: Date): Date | undefined {
  const runs = firstDays.filter(isDay).flatMap((day) => runOnDay(monitorId, day, answeredAt) ?? []);
  return runs.toSorted((a, b) => a.getTime() - b.getTime())[0];
}

/**
 * Returns when an extra run of a day is due: within six hours from two minutes past its beginning in Washington on, at a time
 * that depends only on the monitor's id. Undefined for an answer of that day or later.
 */
function runOnDay(monitorId: string, day: string, answeredAt: Date): Date | undefined {
  const midnightMs = startOfRegistryDay(day).getTime();
  if (answeredAt.getTime() >= midnightMs + MIDNIGHT_MS) return undefined;
  return new Date(midnightMs + DAY_RUN_START_MS + spreadMs(monitorId, DAY_RUN_SPREAD_MS));
}
