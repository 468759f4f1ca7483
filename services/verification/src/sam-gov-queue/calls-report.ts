import { planFreshness, startOfUtcDay, utcDay } from "@vvs/registration";
import type { Db } from "mongodb";
import type { OrganizationUsage, ProviderBudgets } from "../provider-budgets/provider-budgets.ts";
import { type CallCounts, callQuota } from "../provider-health/call-quota.ts";
import { readCallsByDay } from "../provider-health/provider-calls-store.ts";
import { type CallClass, callClasses, perCallClass } from "../providers/call-class.ts";
import type { QueueCollections, QueueDay } from "../questions/documents.ts";
import { DAY_MS } from "../questions/rules.ts";
import type { WatchedCount } from "../questions/watch-documents.ts";
import { askedEveryMs } from "../questions/watch-frequency.ts";
import { type QueueNumbers, readQueueNumbers } from "./numbers.ts";

/** Number of days that are reported, with today. */
const REPORTED_DAYS = 30;
/** Maximum number of organizations that are reported. */
const REPORTED_ORGANIZATIONS = 20;
const NO_CALLS: CallCounts = perCallClass(() => 0);

/** The quota of the key in use, in HTTP calls. */
interface ReportedQuota {
  readonly daily: number;
  /** What is kept for each class. */
  readonly reserved: CallCounts;
  /** What each class may still spend today. */
  readonly left: CallCounts;
  /** What later runs may spend in a day. */
  readonly mostForRuns: number;
}

/** The numbers of one UTC day. */
interface ReportedDay {
  /** YYYY-MM-DD. */
  readonly day: string;
  /** Those of all keys together. */
  readonly calls: CallCounts;
  /** Calls for later runs that were planned on the day before; undefined where none were. */
  readonly planned: number | undefined;
  readonly vendorsAsked: number;
}

/** How fresh the data of watched vendors is, and what quotas buy. */
interface Freshness extends ReturnType<typeof planFreshness> {
  readonly countedAt: Date;
  /** By frequency, the shortest first. */
  readonly watched: readonly WatchedCount[];
}

/** How the quota of SAM.gov's API is used, by all organizations together. */
interface CallsReport {
  /** Undefined where none is configured. */
  readonly quota: ReportedQuota | undefined;
  /** Newest first, beginning with today; days without calls included. */
  readonly days: readonly ReportedDay[];
  readonly queue: QueueNumbers;
  /** Those that caused the most calls today, most first. */
  readonly organizations: readonly OrganizationUsage[];
  /** Undefined until watched vendors are counted for the first time. */
  readonly freshness: Freshness | undefined;
}

/** Errors: the database's. */
export type ReadCallsReport = () => Promise<CallsReport>;

export function createReadCallsReport(options: {
  /** The live database. */
  db: Db;
  collections: QueueCollections;
  provider: string;
  /** HTTP calls per UTC day; undefined where none is configured. */
  quota: number | undefined;
  /** Returns how many calls of a provider a class may still make today. */
  left: (provider: string, callClass: CallClass) => Promise<number | undefined>;
  budgets: Pick<ProviderBudgets, "busiest">;
  now: () => Date;
}): ReadCallsReport {
  const { db, collections, provider, budgets, now } = options;

  async function readQuota(daily: number): Promise<ReportedQuota> {
    const left = await Promise.all(
      callClasses.map(async (callClass) => [callClass, await options.left(provider, callClass)] as const),
    );
    const leftOf = new Map(left);
    return {
      daily,
      reserved: perCallClass((callClass) => callQuota.reserveOf(callClass, daily)),
      left: perCallClass((callClass) => leftOf.get(callClass) ?? 0),
      mostForRuns: callQuota.left(NO_CALLS, "runs", daily),
    };
  }

  async function readDays(today: Date): Promise<ReportedDay[]> {
    const from = new Date(today.getTime() - (REPORTED_DAYS - 1) * DAY_MS);
    const [calls, numbers] = await Promise.all([
      readCallsByDay(db, provider, from),
      collections.days.find({ day: { $gte: from } }).toArray(),
    ]);
    const callsOn = new Map(calls.map(({ day, direct, first, runs }) => [utcDay(day), { direct, first, runs }]));
    const numbersOf = new Map(numbers.map((each) => [each._id, each]));
    return Array.from({ length: REPORTED_DAYS }, (_, index) => {
      const day = utcDay(new Date(today.getTime() - index * DAY_MS));
      const { planned_calls: planned, vendors_asked: vendorsAsked = 0 } = numbersOf.get(day) ?? {};
      return { day, calls: callsOn.get(day) ?? NO_CALLS, planned, vendorsAsked };
    });
  }

  /** Returns the last counts. Vendors are not counted here, as there may be a million. */
  async function readCounts(): Promise<QueueDay["watched"]> {
    const last = await collections.days.findOne({ watched: { $exists: true } }, { sort: { day: -1 } });
    return last?.watched;
  }

  function freshnessOf(counts: QueueDay["watched"], callsForRuns: number): Freshness | undefined {
    if (!counts) return undefined;
    const { counted_at: countedAt, by_frequency: watched } = counts;
    const vendors = watched.map((each) => ({ ...each, everyMs: askedEveryMs(each.priority) }));
    return { countedAt, watched, ...planFreshness(vendors, { callsForRuns, quota: options.quota }) };
  }

  return async () => {
    const at = now();
    const [quota, days, queue, organizations, counts] = await Promise.all([
      options.quota === undefined ? undefined : readQuota(options.quota),
      readDays(startOfUtcDay(at)),
      readQueueNumbers(collections, at),
      budgets.busiest(provider, REPORTED_ORGANIZATIONS),
      readCounts(),
    ]);
    return { quota, days, queue, organizations, freshness: freshnessOf(counts, queue.callsPlannedTomorrow) };
  };
}
