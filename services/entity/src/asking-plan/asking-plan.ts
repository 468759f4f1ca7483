import { ASKED_DAILY_MS, callsForAbsent, callsForRegistered, planFreshness, RESERVE_PERCENT } from "@vvs/registration";

/** How many vendors of the loaded registry have which kind of registration. */
export interface RegistryCounts {
  /** All vendors: registrations, ids without one, and vendors that are gone. */
  readonly vendors: number;
  /** Excluded vendors, which also count below by their registration. */
  readonly excluded: number;
  /** Expired in the 30 days before the file was cut, which stands for any 30 days. */
  readonly lapsedRecently: number;
  /** Expired earlier, or on an unknown day. */
  readonly lapsedBefore: number;
  /** Expired since the file was cut. Most have renewed, and were asked about once. */
  readonly expiredSince: number;
  /** Registered, not expired, and not active. */
  readonly inactive: number;
  /** With a UEI, but never registered. */
  readonly idOnly: number;
  /** In an earlier file, but no longer in the newest. */
  readonly gone: number;
  /** How many active registrations expire on each of the next 30 days. */
  readonly expiring: readonly number[];
}

/** What daily monitoring costs on one day. */
export interface DailyCost {
  readonly vendors: number;
  readonly calls: number;
}

/** How a plan's days differ. */
type Day = "average" | "largest" | "first";

export interface AskingPlan {
  readonly monitored: number;
  /** With the average number of expirations; with the largest of the next 30 days. */
  readonly average: DailyCost;
  readonly largest: DailyCost;
  /** One of the first 30 days, on which vendors that are not registered are asked about every day. */
  readonly first: DailyCost;
  readonly quotas: readonly {
    /** Calls a day. */
    readonly quota: number;
    /** What runs may use: the rest is reserved for direct calls. */
    readonly forRuns: number;
    /** Whether the average, and the largest day, fits into it. */
    readonly fits: boolean;
    readonly fitsLargest: boolean;
    /** How many monitored vendors fit on the average day. */
    readonly fitting: number;
    /** How many monitored vendors always have data of the last day, on average days. */
    readonly fresh: number;
  }[];
  /** The smallest quota with which all of them have, in calls a day. */
  readonly quotaForFresh: number;
}

/** Days on which a vendor that is not active is asked about every day; after that, every week. */
export const DAILY_DAYS = 30;
const WEEK_DAYS = 7;
const QUESTION_VENDORS = 100;

/**
 * Plans what it costs to monitor vendors daily, in proportion to the registry's, and for how many the rest keeps data fresh.
 * Active and unexpired ones are answered by the files. The others are asked about: on the day after they expire, every day
 * for 30 days, and then every week.
 */
export function planAsking(counts: RegistryCounts, monitored: number): AskingPlan {
  const average = costOf(counts, monitored, "average");
  const largest = costOf(counts, monitored, "largest");
  const first = costOf(counts, monitored, "first");
  const vendors = [{ vendors: monitored, everyMs: ASKED_DAILY_MS }];
  const { quotas, dailyForAll } = planFreshness(vendors, { callsForRuns: average.calls });
  return {
    ...{ monitored, average, largest, first, quotaForFresh: dailyForAll },
    quotas: quotas.map(({ daily: quota, fresh }) => {
      const forRuns = Math.floor((quota * (100 - RESERVE_PERCENT.direct)) / 100);
      const [fits, fitsLargest] = [average.calls <= forRuns, largest.calls <= forRuns];
      return { quota, forRuns, fits, fitsLargest, fitting: mostWithin(counts, forRuns), fresh };
    }),
  };
}

function costOf(counts: RegistryCounts, monitored: number, day: Day): DailyCost {
  const { vendors, lapsedRecently, lapsedBefore, inactive, idOnly, gone, expiring } = counts;
  const average = expiring.reduce((sum, count) => sum + count, 0) / Math.max(1, expiring.length);
  const newlyExpired = day === "largest" ? Math.max(0, ...expiring) : average;
  const weekly = day === "first" ? 1 : 1 / WEEK_DAYS;
  const share = vendors === 0 ? 0 : monitored / vendors;
  const listed = Math.ceil(share * (newlyExpired + lapsedRecently + (lapsedBefore + inactive + idOnly) * weekly));
  const absent = Math.ceil(share * gone * weekly);
  // In each question some vendor no longer is registered, or never was, and is looked up as an id.
  const ids = Math.ceil(listed / QUESTION_VENDORS);
  return { vendors: listed + absent, calls: callsForRegistered(listed + ids, ids) + callsForAbsent(absent) };
}

/** Returns the largest number of monitored vendors whose average day costs no more than these calls. */
function mostWithin(counts: RegistryCounts, calls: number): number {
  let [fitting, tooMany] = [0, counts.vendors + 1];
  while (tooMany - fitting > 1) {
    const middle = Math.floor((fitting + tooMany) / 2);
    if (costOf(counts, middle, "average").calls <= calls) fitting = middle;
    else tooMany = middle;
  }
  return fitting;
}
