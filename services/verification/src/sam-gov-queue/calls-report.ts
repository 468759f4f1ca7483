import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { GetSamGovCallsResponseSchema } from "@vvs/proto/verification/v1/sam_gov_calls";
import { planFreshness, startOfUtcDay, utcDay } from "@vvs/registration";
import type { Db } from "mongodb";
import type { ProviderBudgets } from "../provider-budgets/provider-budgets.ts";
import { type CallCounts, callQuota } from "../provider-health/call-quota.ts";
import { readCallsByDay } from "../provider-health/provider-calls-store.ts";
import { type CallClass, callClasses, perCallClass } from "../providers/call-class.ts";
import type { QueueCollections, QueueDay } from "../questions/documents.ts";
import { DAY_MS } from "../questions/rules.ts";
import { askedEveryMs, frequencies } from "../questions/watch-frequency.ts";
import { readQueueNumbers } from "./numbers.ts";

/** Number of days that are reported, with today. */
const REPORTED_DAYS = 30;
/** Maximum number of organizations that are reported. */
const REPORTED_ORGANIZATIONS = 20;
const NO_CALLS: CallCounts = perCallClass(() => 0);

/** Reads how the quota of SAM.gov's API is used, by all organizations together. Errors: the database's. */
export type ReadCallsReport = () => Promise<MessageInitShape<typeof GetSamGovCallsResponseSchema>>;

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

  async function readQuota(daily: number) {
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

  async function readDays(today: Date) {
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

  function freshnessOf({ counted_at, by_frequency }: NonNullable<QueueDay["watched"]>, callsForRuns: number) {
    const vendors = by_frequency.map((each) => ({ ...each, everyMs: askedEveryMs(each.priority) }));
    return {
      countedAt: timestampFromDate(counted_at),
      watched: by_frequency.map(({ priority, vendors, ...old }) => ({
        frequency: frequencies[priority],
        vendors,
        hourOld: old.hour_old,
        dayOld: old.day_old,
        weekOld: old.week_old,
        monthOld: old.month_old,
      })),
      ...planFreshness(vendors, { callsForRuns, quota: options.quota }),
    };
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
    const { parked, oldestParkedAt, questions, callsPlannedTomorrow: plannedTomorrow } = queue;
    return {
      quota,
      days,
      queue: {
        waitingRuns: parked.waiting,
        readyRuns: parked.ready,
        oldestAt: oldestParkedAt && timestampFromDate(oldestParkedAt),
        questions,
        plannedTomorrow,
      },
      organizations: organizations.map(({ organizationId, direct, monitors: first, left }) => ({
        ...{ organizationId, direct, first },
        directLeft: left?.direct,
        firstLeft: left?.monitors,
      })),
      freshness: counts && freshnessOf(counts, plannedTomorrow),
    };
  };
}
