import type { Environment } from "@vvs/tenant";

export type Frequency = "hourly" | "daily" | "weekly" | "monthly";

/** The sandbox's clock in the first part of a monitor's life, so that a developer sees a webhook within seconds. */
export interface FastClock {
  /** How long after the creation it runs fast, in milliseconds. */
  readonly lastsMs: number;
  /** What each frequency comes to meanwhile, in milliseconds. */
  readonly intervalsMs: Readonly<Record<Frequency, number>>;
}

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;

const intervalsMs: Readonly<Record<Frequency, number>> = {
  hourly: HOUR_MS,
  daily: DAY_MS,
  weekly: 7 * DAY_MS,
  monthly: 30 * DAY_MS,
};

/** What the schedule of a monitor hangs on. */
export interface Scheduled {
  readonly environment: Environment;
  readonly frequency: Frequency;
  readonly createdAt: Date;
  /** When its newest run was due. */
  readonly lastDueAt: Date;
}

/** Time between the runs of a monitor, in milliseconds, at this moment of its life. */
export function intervalMs(monitor: Omit<Scheduled, "lastDueAt">, now: Date, fastClock: FastClock): number {
  const ageMs = now.getTime() - monitor.createdAt.getTime();
  const fast = monitor.environment === "sandbox" && ageMs < fastClock.lastsMs;
  return (fast ? fastClock.intervalsMs : intervalsMs)[monitor.frequency];
}

/**
 * When the next run is due: whole intervals after the last one was due, so that lateness does not add up, and the first
 * such moment after now, so that runs missed in an outage are skipped and not made up for.
 */
export function nextDueAt(monitor: Scheduled, now: Date, fastClock: FastClock): Date {
  const interval = intervalMs(monitor, now, fastClock);
  const sinceDueMs = now.getTime() - monitor.lastDueAt.getTime();
  const intervals = Math.max(1, Math.floor(sinceDueMs / interval) + 1);
  return new Date(monitor.lastDueAt.getTime() + intervals * interval);
}
