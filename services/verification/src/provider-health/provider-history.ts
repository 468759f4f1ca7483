import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Check, toCheckType } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import { type GetProviderHealthRequest, HealthInterval } from "@vvs/proto/verification/v1/provider_health";
import { DURATION_CLASSES } from "@vvs/telemetry/durations";
import type { Environment } from "@vvs/tenant";
import type { Db } from "mongodb";
import type { ProvidersByEnvironment } from "../providers/providers.ts";
import { attemptCountsOf } from "./attempt-counts.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Maximum length of a range by interval, so that answers stay bounded. */
const LONGEST_MS = { hour: 7 * DAY_MS, day: 92 * DAY_MS } as const;
const INTERVALS = { [HealthInterval.HOUR]: "hour", [HealthInterval.DAY]: "day" } as const;

/** A time from `from` until before `to`. */
export interface HistoryRange {
  readonly from: Date;
  readonly to: Date;
  readonly interval: keyof typeof LONGEST_MS;
}

/** Parses the range of a request. Errors: invalid_request where it lacks a time or its interval. */
export function historyRangeOf({ from, to, interval }: GetProviderHealthRequest): HistoryRange {
  if (interval === HealthInterval.UNSPECIFIED || !(interval in INTERVALS)) {
    throw new ServiceError("invalid_request", { message: "Health is read by hour or by day." });
  }
  if (!from || !to) throw new ServiceError("invalid_request", { message: "The call lacks a time." });
  return { from: timestampDate(from), to: timestampDate(to), interval: INTERVALS[interval] };
}

/** Reads providers in the order they are asked, then those that are no longer asked. Errors: invalid_request. */
export type ReadProviderHistory = (
  environment: Environment,
  range: HistoryRange,
) => Promise<ReturnType<typeof historyOf>[]>;

export function createReadProviderHistory(options: {
  databases: Readonly<Record<Environment, Db>>;
  providers: ProvidersByEnvironment;
}): ReadProviderHistory {
  const { databases, providers } = options;
  return async (environment, { from, to, interval }) => {
    const longest = LONGEST_MS[interval];
    if (!(from < to) || to.getTime() - from.getTime() > longest) {
      throw new ServiceError("invalid_request", {
        message: `By ${interval}, ask for a time of at most ${longest / DAY_MS} days.`,
      });
    }
    const counted = await attemptCountsOf(databases[environment])
      .aggregate<CountedPeriod>([
        { $match: { hour: { $gte: from, $lt: to } } },
        {
          $group: {
            _id: { at: { $dateTrunc: { date: "$hour", unit: interval } }, provider: "$provider", check: "$check_type" },
            ...sums,
          },
        },
        { $set: { durations: classes.map((place) => `$d${place}`) } },
        { $sort: { "_id.at": 1, "_id.provider": 1, "_id.check": 1 } },
      ])
      .toArray();
    const order = providers[environment].map(({ name, check }) => `${name} ${check}`);
    const placeOf = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
    const groups = [...Map.groupBy(counted, ({ _id }) => `${_id.provider} ${_id.check}`)];
    return groups.sort(([one], [other]) => placeOf(one) - placeOf(other)).map(([, periods]) => historyOf(periods));
  };
}

/** Counts of attempts in some period. */
export interface AttemptSums {
  readonly answered: number;
  readonly unanswered: number;
  /** Number of answers by class of duration. */
  readonly durations: readonly number[];
}

type CountedPeriod = AttemptSums & {
  readonly _id: { readonly at: Date; readonly provider: string; readonly check: Check };
};

/** Returns the figures of some attempts. Per cents are never rounded to 0 or 100, so that one failure in thousands shows. */
export function figuresOf({ answered, unanswered, durations }: AttemptSums) {
  const exact = (answered / (answered + unanswered)) * 100;
  const isMixed = answered > 0 && unanswered > 0;
  return {
    answeredPercent: isMixed ? Math.min(99, Math.max(1, Math.round(exact))) : exact,
    halfWithinMs: boundOf(durations, 0.5),
    mostWithinMs: boundOf(durations, 0.95),
  };
}

/** Returns the upper bound of the class in which a share (0–1) of all answers is reached, in milliseconds. */
function boundOf(durations: readonly number[], share: number): number {
  const wanted = share * durations.reduce((sum, number) => sum + number, 0);
  let before = 0;
  for (const [place, number] of durations.entries()) {
    before += number;
    if (number > 0 && before >= wanted) return 2 ** place;
  }
  return 0;
}

const classes = Array.from({ length: DURATION_CLASSES }, (_, place) => place);
const sums = {
  answered: { $sum: "$answered" },
  unanswered: { $sum: "$unanswered" },
  ...Object.fromEntries(classes.map((place) => [`d${place}`, { $sum: `$durations.${place}` }])),
};

function historyOf(periods: readonly CountedPeriod[]) {
  const { provider, check } = periods[0]!._id;
  const total = (numberOf: (period: CountedPeriod) => number) =>
    periods.reduce((total, period) => total + numberOf(period), 0);
  const overall = {
    answered: total(({ answered }) => answered),
    unanswered: total(({ unanswered }) => unanswered),
    durations: classes.map((place) => total(({ durations }) => durations[place]!)),
  };
  return {
    provider,
    checkType: toCheckType(check),
    overall: figuresOf(overall),
    periods: periods.map((period) => ({ at: timestampFromDate(period._id.at), figures: figuresOf(period) })),
  };
}
