import { Frequency as ProtoFrequency } from "@vvs/proto/monitor/v1/monitor";
import type { Environment } from "@vvs/tenant";

/** How often a monitor runs, by the name that the public API and stored documents use. */
export type Frequency = "hourly" | "daily" | "weekly" | "monthly";

/** Numbers of frequencies on gRPC. */
export const protoFrequencies: Readonly<Record<Frequency, ProtoFrequency>> = {
  hourly: ProtoFrequency.HOURLY,
  daily: ProtoFrequency.DAILY,
  weekly: ProtoFrequency.WEEKLY,
  monthly: ProtoFrequency.MONTHLY,
};

/** Returns the frequency of a number, or undefined for one that this version does not know. */
export function frequencyOf(value: ProtoFrequency): Frequency | undefined {
  return (Object.keys(protoFrequencies) as Frequency[]).find((name) => protoFrequencies[name] === value);
}

/** Shorter intervals for sandbox monitors that were created recently, so that a developer sees a webhook within seconds. */
export interface FastClock {
  /** How long after its creation a monitor uses these intervals, in milliseconds. */
  readonly lastsMs: number;
  /** Interval of each frequency in that time, in milliseconds. */
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

/** Inputs of a monitor's schedule. */
export interface Scheduled {
  readonly environment: Environment;
  readonly frequency: Frequency;
  readonly createdAt: Date;
  /** Due time of its newest run. */
  readonly lastDueAt: Date;
}

/** Returns the time between two runs of a monitor at this time, in milliseconds. */
export function intervalMs(monitor: Omit<Scheduled, "lastDueAt">, now: Date, fastClock: FastClock): number {
  const ageMs = now.getTime() - monitor.createdAt.getTime();
  const fast = monitor.environment === "sandbox" && ageMs < fastClock.lastsMs;
  return (fast ? fastClock.intervalsMs : intervalsMs)[monitor.frequency];
}

/**
 * Returns when the next run is due: a whole number of intervals after the last due time, so that delays do not add up,
 * and the first such time after now, so that runs missed in an outage are skipped.
 */
export function nextDueAt(monitor: Scheduled, now: Date, fastClock: FastClock): Date {
  const interval = intervalMs(monitor, now, fastClock);
  const sinceDueMs = now.getTime() - monitor.lastDueAt.getTime();
  const intervals = Math.max(1, Math.floor(sinceDueMs / interval) + 1);
  return new Date(monitor.lastDueAt.getTime() + intervals * interval);
}
