import { Frequency as ProtoFrequency } from "@vvs/proto/monitor/v1/monitor";
import type { Environment } from "@vvs/tenant";
import { spreadMs } from "./spread.ts";

/** How often a monitor runs, by the name that the public API and stored documents use. */
export type Frequency = "hourly" | "daily" | "weekly" | "monthly";

/** Numbers of frequencies on gRPC. */
export const protoFrequencies: Readonly<Record<Frequency, ProtoFrequency>> = {
  hourly: ProtoFrequency.HOURLY,
  daily: ProtoFrequency.DAILY,
  weekly: ProtoFrequency.WEEKLY,
  monthly: ProtoFrequency.MONTHLY,
};

/** The frequencies that this version knows. */
export const frequencies = Object.keys(protoFrequencies) as readonly Frequency[];

/** Returns the frequency of a number, or undefined for one that this version does not know. */
export function frequencyOf(value: ProtoFrequency): Frequency | undefined {
  return frequencies.find((name) => protoFrequencies[name] === value);
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

/** Time between two runs of a monitor, in milliseconds. */
export const periodsMs: Readonly<Record<Frequency, number>> = {
  hourly: HOUR_MS,
  daily: DAY_MS,
  weekly: 7 * DAY_MS,
  monthly: 30 * DAY_MS,
};

/** Inputs of a monitor's schedule. */
export interface Scheduled {
  readonly monitorId: string;
  readonly environment: Environment;
  readonly frequency: Frequency;
  readonly createdAt: Date;
  /** Due time of its newest run that was due by the schedule. */
  readonly lastDueAt: Date;
}

/**
 * Returns when the next run is due: at the monitor's first grid point after now. Its grid points are one period apart, at a
 * place within the period (UTC) that depends only on its id. So a monitor's runs come at regular times, many monitors
 * created together do not run together, and runs missed in an outage are skipped. On the fast clock it is a whole number of
 * intervals after the last due time. Errors: RangeError for a frequency that this version does not know.
 */
export function nextDueAt(monitor: Scheduled, now: Date, fastClock: FastClock): Date {
  const { monitorId, environment, frequency, createdAt, lastDueAt } = monitor;
  const isFast = environment === "sandbox" && now.getTime() - createdAt.getTime() < fastClock.lastsMs;
  const periodMs: number | undefined = (isFast ? fastClock.intervalsMs : periodsMs)[frequency];
  if (periodMs === undefined) throw new RangeError(`unknown frequency: ${frequency}`);
  const gridMs = isFast ? lastDueAt.getTime() : spreadMs(monitorId, periodMs);
  const afterMs = Math.max(now.getTime(), lastDueAt.getTime());
  return new Date(gridMs + (Math.floor((afterMs - gridMs) / periodMs) + 1) * periodMs);
}
