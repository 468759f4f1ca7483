import { isDay, utcDay } from "@vvs/registration";

/** A period of whole UTC days. */
export interface Period {
  /** The first day, YYYY-MM-DD. */
  readonly from: string;
  /** The last day, inclusive. */
  readonly to: string;
}

/** The period of a report, or why the typed one can't be used. */
export interface ReadPeriod {
  readonly period: Period;
  readonly problem?: string;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
const MAX_DAYS = 366;

/** Returns the calendar month before the current one. */
export function lastMonth(now: Date): Period {
  const end = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0));
  const start = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth(), 1));
  return { from: utcDay(start), to: utcDay(end) };
}

/** Returns the current calendar month up to today. */
export function thisMonth(now: Date): Period {
  const today = utcDay(now);
  return { from: `${today.slice(0, 7)}-01`, to: today };
}

/** Reads a period from a query; the month before the current one where the query names none. */
export function readPeriod(query: Readonly<Record<string, unknown>>, now: Date): ReadPeriod {
  const { from, to } = query;
  if (from === undefined && to === undefined) return { period: lastMonth(now) };
  if (!isDay(from) || !isDay(to)) return { period: lastMonth(now), problem: "Enter two dates." };
  const period = { from, to };
  if (to < from) return { period, problem: "The last day must not be before the first day." };
  const { start, end } = bounds(period);
  if (end.getTime() - start.getTime() > MAX_DAYS * DAY_MS)
    return { period, problem: `A report covers at most ${MAX_DAYS} days.` };
  return { period };
}

/** Returns the beginning of the first day and the end of the last one. */
export function bounds({ from, to }: Period): { start: Date; end: Date } {
  return { start: new Date(`${from}T00:00:00Z`), end: new Date(new Date(`${to}T00:00:00Z`).getTime() + DAY_MS) };
}
