import { ServiceError } from "@vvs/errors";
import { DURATION_CLASSES } from "@vvs/telemetry/durations";
import type { Environment } from "@vvs/tenant";
import type { Db } from "mongodb";
import type { Check } from "../checks.ts";
import { attemptCountsOf } from "./attempt-counts.ts";
import type { ProviderRegistry } from "./registry.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** How finely the past is read, and for how long a time at most, so that an answer stays bounded. */
const LONGEST_MS = { hour: 7 * DAY_MS, day: 92 * DAY_MS } as const;

export interface HistoryRange {
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
  readonly interval: keyof typeof LONGEST_MS;
}

/** How a provider did, without telling how often it was asked. */
export interface HistoryFigures {
  /** 0–100, whole; 0 and 100 where it never or always answered. */
  readonly answeredPercent: number;
  /** Milliseconds, a power of two; 0 where it gave no answer. */
  readonly halfWithinMs: number;
  readonly mostWithinMs: number;
}

/** How a provider did with one check. */
export interface PastProvider {
  readonly provider: string;
  readonly check: Check;
  readonly overall: HistoryFigures;
  /** By time; those in which it was not asked are left out. */
  readonly periods: readonly { readonly at: Date; readonly figures: HistoryFigures }[];
}

/** In the order they are asked, then those that are not asked any more. Errors: invalid_request. */
export type ReadProviderHistory = (environment: Environment, range: HistoryRange) => Promise<PastProvider[]>;

export function createReadProviderHistory(options: {
  databases: Readonly<Record<Environment, Db>>;
  providers: ProviderRegistry;
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
      .aggregate<Counted>([
        { $match: { hour: { $gte: from, $lt: to } } },
        {
          $group: {
            _id: { at: { $dateTrunc: { date: "$hour", unit: interval } }, provider: "$provider", check: "$check_type" },
            ...sums,
          },
        },
        { $sort: { "_id.at": 1, "_id.provider": 1, "_id.check": 1 } },
      ])
      .toArray();
    const order = providers[environment].map(({ name, check }) => `${name} ${check}`);
    const placeOf = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
    const groups = [...Map.groupBy(counted, ({ _id }) => `${_id.provider} ${_id.check}`)];
    return groups.sort(([one], [other]) => placeOf(one) - placeOf(other)).map(([, periods]) => pastOf(periods));
  };
}

/** Attempts of some time. */
export interface AttemptSums {
  readonly answered: number;
  readonly unanswered: number;
  /** Of answers, by class of duration. */
  readonly durations: readonly number[];
}

/** Never 0 or 100 by rounding alone: one failure among thousands is still to be seen. */
export function figuresOf({ answered, unanswered, durations }: AttemptSums): HistoryFigures {
  const exact = (answered / (answered + unanswered)) * 100;
  const isMixed = answered > 0 && unanswered > 0;
  return {
    answeredPercent: isMixed ? Math.min(99, Math.max(1, Math.round(exact))) : exact,
    halfWithinMs: boundOf(durations, 0.5),
    mostWithinMs: boundOf(durations, 0.95),
  };
}

/** The end of the class in which a share (0–1) of all is reached. */
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

type Counted = {
  readonly _id: { readonly at: Date; readonly provider: string; readonly check: Check };
  readonly answered: number;
  readonly unanswered: number;
} & { readonly [name: `d${number}`]: number };

function pastOf(periods: readonly Counted[]): PastProvider {
  const { provider, check } = periods[0]!._id;
  return {
    provider,
    check,
    overall: figuresOf(sumsOf(periods)),
    periods: periods.map((period) => ({ at: period._id.at, figures: figuresOf(sumsOf([period])) })),
  };
}

function sumsOf(periods: readonly Counted[]): AttemptSums {
  const total = (numberOf: (period: Counted) => number) =>
    periods.reduce((total, period) => total + numberOf(period), 0);
  return {
    answered: total(({ answered }) => answered),
    unanswered: total(({ unanswered }) => unanswered),
    durations: classes.map((place) => total((period) => period[`d${place}`] ?? 0)),
  };
}
