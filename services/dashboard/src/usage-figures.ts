import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { UsageCount } from "@vvs/proto/account/v1/account";

/** What became of a request, as people want to tell answers apart. */
export const outcomes = ["answered", "refused", "limited", "failed"] as const;

export type Outcome = (typeof outcomes)[number];

/** Requests of one hour or day. */
export interface PeriodFigures {
  readonly at: Date;
  readonly requests: Readonly<Record<Outcome, number>>;
  /** Milliseconds; undefined where there were no requests. */
  readonly latency: { readonly p50: number; readonly p95: number; readonly p99: number } | undefined;
}

export function outcomeOf(status: number): Outcome {
  if (status === 429) return "limited";
  if (status >= 500) return "failed";
  return status >= 400 ? "refused" : "answered";
}

/** The figures of each period from `from` on, in order; those without requests too. */
export function figuresByPeriod(
  counts: readonly UsageCount[],
  range: { from: Date; to: Date; stepMs: number },
): PeriodFigures[] {
  const byTime = Map.groupBy(counts, ({ hour }) => timestampDate(hour!).getTime());
  const periods: PeriodFigures[] = [];
  for (let at = range.from.getTime(); at < range.to.getTime(); at += range.stepMs) {
    const here = byTime.get(at) ?? [];
    periods.push({ at: new Date(at), requests: requestsByOutcome(here), latency: latencyOf(here) });
  }
  return periods;
}

export function requestsByOutcome(counts: readonly UsageCount[]): Record<Outcome, number> {
  const sums = { answered: 0, refused: 0, limited: 0, failed: 0 };
  for (const { status, requests } of counts) sums[outcomeOf(status)] += Number(requests);
  return sums;
}

export const totalOf = (requests: PeriodFigures["requests"]): number =>
  outcomes.reduce((sum, outcome) => sum + requests[outcome], 0);

/** Of each key the requests it made, most first. */
export function requestsByKey(counts: readonly UsageCount[]): [keyId: string, requests: number][] {
  const sums = new Map<string, number>();
  for (const { apiKeyId, requests } of counts) sums.set(apiKeyId, (sums.get(apiKeyId) ?? 0) + Number(requests));
  return [...sums].sort(([, one], [, other]) => other - one);
}

/** The most requests that one key made in one of the periods, and how many of all were over the limit. */
export function busiestOf(counts: readonly UsageCount[]): { readonly most: number; readonly limited: number } {
  const periods = Map.groupBy(counts, ({ apiKeyId, hour }) => `${apiKeyId} ${timestampDate(hour!).getTime()}`);
  const sums = [...periods.values()].map((period) => totalOf(requestsByOutcome(period)));
  return { most: Math.max(0, ...sums), limited: requestsByOutcome(counts).limited };
}

/** How long requests took; those that were refused for their rate cost nothing and are left out. */
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
 * The duration in milliseconds that a share (0–1) of requests stayed below, by a histogram whose n-th number is of those
 * below 2^n ms: within a class they are taken to be evenly spread.
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
