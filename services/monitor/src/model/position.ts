import { type Frequency, periodsMs } from "./frequency.ts";
import type { DataDates } from "./monitor.ts";

// How far the scheduled checks of standing monitors have been made, as stored. All times are due times of checks.

/** Maximum number of outages and of changes of the data that are remembered; older ones are forgotten. */
const MAX_REMEMBERED = 100;

/** The position of a frequency. */
export interface SweepPosition {
  readonly _id: Frequency;
  /** Checks due at or before this time were made. */
  readonly swept_to: Date;
  /** Checks due at or before this time were made with data that was not overdue: what they didn't find different is confirmed. */
  readonly confirmed_to: Date;
  /** Times whose checks were never made, as during an outage: each monitor is checked once after it. Oldest first. */
  readonly skipped: readonly { readonly after: Date; readonly to: Date }[];
  /** The dates of the data that confirmed checks rest on, each from the first check that is due after a time. Oldest first. */
  readonly data: readonly (DataDates & { readonly after: Date })[];
}

/** A range of due times within one period of the schedule. Its bounds are counted from `startsAt`, in milliseconds, inclusive. */
export interface Slice {
  readonly startsAt: number;
  readonly from: number;
  readonly to: number;
}

/** Returns the position of a frequency of which nothing was swept before this time. */
export function startPosition(frequency: Frequency, at: Date): SweepPosition {
  return { _id: frequency, swept_to: at, confirmed_to: at, skipped: [], data: [] };
}

/** Were checks made that could confirm nothing, since the data was overdue? */
export function isBehind({ swept_to, confirmed_to }: SweepPosition): boolean {
  return confirmed_to < swept_to;
}

/** Returns the position from which all checks that could confirm nothing are made again. */
export function restarted(position: SweepPosition): SweepPosition {
  return { ...position, swept_to: position.confirmed_to };
}

/** Returns the position from which each monitor is checked once up to `until`, however long nothing was swept. */
export function withinOnePeriod(position: SweepPosition, until: Date): SweepPosition {
  const to = new Date(until.getTime() - periodsMs[position._id]);
  if (position.swept_to >= to) return position;
  if (isBehind(position)) return { ...position, swept_to: to };
  const skipped = [...position.skipped, { after: position.confirmed_to, to }].slice(-MAX_REMEMBERED);
  return { ...position, swept_to: to, confirmed_to: to, skipped };
}

/** Returns the next due times up to `until` that are within one period. There must be any. */
export function nextSlice({ _id: frequency, swept_to }: SweepPosition, until: Date): Slice {
  const periodMs = periodsMs[frequency];
  const first = swept_to.getTime() + 1;
  const startsAt = first - (first % periodMs);
  return { startsAt, from: first - startsAt, to: Math.min(until.getTime() - startsAt, periodMs - 1) };
}

/** Returns the position after the checks due up to `to` were made, and whether their data was overdue. */
export function advanced(
  position: SweepPosition,
  to: Date,
  { isOverdue, dataAsOf }: { isOverdue: boolean; dataAsOf: DataDates | undefined },
): SweepPosition {
  if (isOverdue || isBehind(position)) return { ...position, swept_to: to };
  const isKnown = !dataAsOf || isSame(dataAsOf, position.data.at(-1));
  const data = isKnown ? position.data : [...position.data, { after: position.swept_to, ...dataAsOf }];
  return { ...position, swept_to: to, confirmed_to: to, data: data.slice(-MAX_REMEMBERED) };
}

function isSame(dates: DataDates, others: DataDates | undefined): boolean {
  const of = (each: DataDates | undefined) => [each?.registration?.getTime(), each?.exclusions?.getTime()].join();
  return of(dates) === of(others);
}
