import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type UsageCount, UsageInterval } from "@vvs/proto/account/v1/usage";
import { exactTime, longDay, utcDay } from "@vvs/registration";
import type { CallOptions } from "@vvs/rpc";
import type { Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";

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

/** Reads the organization's requests in the last 24 hours, by hour. */
export async function readLastDay(
  { usage }: Pick<PageContext, "usage">,
  { caller, now }: Pick<Visit, "caller" | "now">,
  call: CallOptions,
) {
  const range = rangesAt(now)[0]!;
  const [from, to] = [timestampFromDate(range.from), timestampFromDate(range.to)];
  const { counts } = await usage.getUsage({ caller, from, to, interval: UsageInterval.HOUR }, call);
  return { range, counts };
}

/** The outcomes of requests. "limited" are those answered with 429, for any reason; of "unanswered" ones the client hung up before. */
export const outcomes = ["answered", "refused", "limited", "failed", "unanswered"] as const;

type Outcome = (typeof outcomes)[number];

/** The requests of one hour or day. */
export interface PeriodFigures {
  readonly at: Date;
  readonly requests: Readonly<Record<Outcome, number>>;
  /** Milliseconds; undefined if there were no requests. */
  readonly latency: { readonly p50: number; readonly p95: number; readonly p99: number } | undefined;
}

export function outcomeOf(status: number): Outcome {
  if (status === 0) return "unanswered";
  if (status === 429) return "limited";
  if (status >= 500) return "failed";
  return status >= 400 ? "refused" : "answered";
}

/** Returns the figures of each period of a range, in order, including periods without requests. */
export function figuresByPeriod(
  counts: readonly UsageCount[],
  range: { from: Date; to: Date; stepMs: number },
): PeriodFigures[] {
  const byTime = Map.groupBy(counts, ({ hour }) => timestampDate(hour!).getTime());
  const periods: PeriodFigures[] = [];
  for (let at = range.from.getTime(); at < range.to.getTime(); at += range.stepMs) {
    const inPeriod = byTime.get(at) ?? [];
    periods.push({ at: new Date(at), requests: requestsByOutcome(inPeriod), latency: latencyOf(inPeriod) });
  }
  return periods;
}

export function requestsByOutcome(counts: readonly UsageCount[]): Record<Outcome, number> {
  const sums = { answered: 0, refused: 0, limited: 0, failed: 0, unanswered: 0 };
  for (const { status, requests } of counts) sums[outcomeOf(status)] += Number(requests);
  return sums;
}

export const totalOf = (requests: PeriodFigures["requests"]): number =>
  outcomes.reduce((sum, outcome) => sum + requests[outcome], 0);

/** Returns the number of requests of each API key, the busiest key first. */
export function requestsByKey(counts: readonly UsageCount[]): [keyId: string, requests: number][] {
  const sums = new Map<string, number>();
  for (const { apiKeyId, requests } of counts) sums.set(apiKeyId, (sums.get(apiKeyId) ?? 0) + Number(requests));
  return [...sums].sort(([, one], [, other]) => other - one);
}

/** Returns the most requests of one key in one period without those answered with 429, and how many were of all keys. */
export function busiestOf(counts: readonly UsageCount[]): { readonly most: number; readonly limited: number } {
  const used = counts.filter(({ status }) => outcomeOf(status) !== "limited");
  const periods = Map.groupBy(used, ({ apiKeyId, hour }) => `${apiKeyId} ${timestampDate(hour!).getTime()}`);
  const sums = [...periods.values()].map((period) => totalOf(requestsByOutcome(period)));
  return { most: Math.max(0, ...sums), limited: requestsByOutcome(counts).limited };
}

/** Returns how long requests took; leaves out those answered with 429, which take almost no time. */
export function latencyOf(counts: readonly UsageCount[]): PeriodFigures["latency"] {
  const histogram: number[] = [];
  for (const { status, durations } of counts) {
    if (outcomeOf(status) === "limited") continue;
    for (const [place, number] of durations.entries()) histogram[place] = (histogram[place] ?? 0) + Number(number);
  }
  if (histogram.every((number) => number === 0)) return undefined;
  const at = (share: number) => quantile(histogram, share);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/**
 * Returns the duration in milliseconds that a share (0–1) of requests stayed below. The n-th number of the histogram
 * counts requests below 2^n ms; within a class, durations are assumed to be evenly spread.
 */
export function quantile(histogram: readonly number[], share: number): number {
  const wanted = share * histogram.reduce((sum, number) => sum + number, 0);
  let before = 0;
  for (const [place, number] of histogram.entries()) {
    if (number > 0 && before + number >= wanted) {
      const lowest = place === 0 ? 0 : 2 ** (place - 1);
      return lowest + ((2 ** place - lowest) * (wanted - before)) / number;
    }
    before += number;
  }
  return 0;
}
