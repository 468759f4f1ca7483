import { VENDORS_PER_CALL } from "@vvs/registration";
import { reserveOf } from "../provider-health/call-quota.ts";
import type { WatchedCount } from "./documents.ts";
import { asksPerDay, type FreshPriority } from "./watch-frequency.ts";

/** The quotas that SAM.gov gives, apart from 10 calls, in HTTP calls per UTC day. */
const QUOTAS = [1_000, 10_000];

/** What quotas buy for the watched vendors. */
export interface FreshPlan {
  /** With SAM.gov's quotas and the configured one, smallest first. */
  readonly quotas: readonly {
    readonly daily: number;
    /** Number of vendors whose data is kept at most as old as their monitors' frequency. */
    readonly fresh: number;
  }[];
  /** The smallest quota with which the data of all of them is kept so. */
  readonly dailyForAll: number;
}

/**
 * Plans how many watched vendors have fresh data with each quota: hourly ones first, with the half that is kept for runs,
 * without the calls that runs need. `watched`: by frequency, the shortest first.
 */
export function planFreshness(
  watched: readonly Pick<WatchedCount, "priority" | "vendors">[],
  { callsForRuns, quota }: { callsForRuns: number; quota: number | undefined },
): FreshPlan {
  const known = [...new Set(quota === undefined ? QUOTAS : [...QUOTAS, quota])].toSorted((a, b) => a - b);
  const forAll = watched.reduce((sum, { priority, vendors }) => sum + callsToKeepFresh(priority, vendors), 0);
  return {
    quotas: known.map((daily) => ({ daily, fresh: freshWith(watched, reserveOf("runs", daily) - callsForRuns) })),
    dailyForAll: 2 * (callsForRuns + Math.ceil(forAll)),
  };
}

/** Returns the calls a day that keep the data of vendors of a frequency fresh, if calls are full. */
export function callsToKeepFresh(priority: FreshPriority, vendors: number): number {
  return (vendors * asksPerDay(priority)) / VENDORS_PER_CALL;
}

function freshWith(watched: readonly Pick<WatchedCount, "priority" | "vendors">[], calls: number): number {
  let left = Math.max(0, calls);
  let fresh = 0;
  for (const { priority, vendors } of watched) {
    const kept = Math.min(vendors, Math.floor(left / callsToKeepFresh(priority, 1)));
    left -= callsToKeepFresh(priority, kept);
    fresh += kept;
  }
  return fresh;
}
