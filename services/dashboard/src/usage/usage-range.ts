import { exactTime, longDay, utcDay } from "@vvs/registration";

/** A time range up to now for which usage is shown. */
export interface UsageRange {
  readonly id: string;
  readonly name: string;
  readonly interval: "hour" | "day";
  readonly stepMs: number;
  readonly from: Date;
  /** Exclusive: the end of the current hour or day, UTC. */
  readonly to: Date;
}

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

const choices = [
  { id: "day", name: "24 hours", interval: "hour", stepMs: HOUR_MS, steps: 24 },
  { id: "week", name: "7 days", interval: "hour", stepMs: HOUR_MS, steps: 7 * 24 },
  { id: "month", name: "30 days", interval: "day", stepMs: DAY_MS, steps: 30 },
  { id: "quarter", name: "92 days", interval: "day", stepMs: DAY_MS, steps: 92 },
] as const;

/** Returns the ranges to choose from: whole hours or days, including the current one. */
export function rangesAt(now: Date): UsageRange[] {
  return choices.map(({ steps, ...choice }) => {
    const to = (Math.floor(now.getTime() / choice.stepMs) + 1) * choice.stepMs;
    return { ...choice, from: new Date(to - steps * choice.stepMs), to: new Date(to) };
  });
}

/** Returns the short label of an hour or day on the axis of a range, UTC: an hour only where the range is a day. */
export function tickOf(at: Date, { id }: UsageRange): string {
  if (id === "day") return at.toISOString().slice(11, 16);
  return longDay(utcDay(at)).replace(/ \d{4}$/, "");
}

/** Returns the label of an hour or day of a range, UTC. */
export function labelOf(at: Date, { interval }: UsageRange): string {
  return interval === "day" ? longDay(utcDay(at)) : exactTime(at, "minute");
}
