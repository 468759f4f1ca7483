import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import { ASKED_DAILY_MS } from "@vvs/registration";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Priority of a question that is asked only to keep data fresh, by the shortest frequency of the vendor's monitors. Those of runs
 * have 1 and 2, so they are asked first.
 */
export const freshPriorities = { hourly: 3, daily: 4, weekly: 5, monthly: 6 } as const;
export type FreshPriority = (typeof freshPriorities)[keyof typeof freshPriorities];
export const allFreshPriorities = Object.values(freshPriorities);

/** How old a vendor's data may become, and how long before that it may be asked for, in milliseconds. */
const terms: Readonly<Record<FreshPriority, { readonly maxAgeMs: number; readonly leadMs: number }>> = {
  3: { maxAgeMs: HOUR_MS, leadMs: HOUR_MS / 6 },
  4: { maxAgeMs: DAY_MS, leadMs: DAY_MS - ASKED_DAILY_MS },
  5: { maxAgeMs: 7 * DAY_MS, leadMs: HOUR_MS },
  6: { maxAgeMs: 30 * DAY_MS, leadMs: HOUR_MS },
};

/** Share of the lead for which a due question waits for others, so that calls are full; the rest is for asking. */
const GATHERED_SHARE = 0.75;

/** The frequency of monitors by the priority of their vendors. */
export const frequencies: Readonly<Record<FreshPriority, Frequency>> = {
  3: Frequency.HOURLY,
  4: Frequency.DAILY,
  5: Frequency.WEEKLY,
  6: Frequency.MONTHLY,
};

/** Returns the priority of a monitor's frequency; the lowest for one that is not known. */
export function freshPriorityOf(frequency: Frequency): FreshPriority {
  return allFreshPriorities.find((priority) => frequencies[priority] === frequency) ?? freshPriorities.monthly;
}

/** Returns whether a question is asked only to keep data fresh: no run waits for it. */
export function isFreshPriority(priority: number): priority is FreshPriority {
  return priority >= freshPriorities.hourly;
}

/** Returns when data of a date is due to be asked for again. */
export function dueAt(asOf: Date, priority: FreshPriority): Date {
  return new Date(asOf.getTime() + askedEveryMs(priority));
}

/** Returns how old the data of a vendor may become, in milliseconds. */
export function maxAgeMs(priority: FreshPriority): number {
  return terms[priority].maxAgeMs;
}

/** Returns how often a vendor is asked about at most, in milliseconds. */
export function askedEveryMs(priority: FreshPriority): number {
  return terms[priority].maxAgeMs - terms[priority].leadMs;
}

const byPriority = Array.from({ length: freshPriorities.monthly + 1 }, (_, priority) =>
  isFreshPriority(priority) ? askedEveryMs(priority) : 0,
);

/** `dueAt` as an expression of MongoDB, from `as_of` and `priority`. */
export const dueAtExpression = { $add: ["$as_of", { $arrayElemAt: [byPriority, "$priority"] }] };

/** Returns for how long a due question waits for others, in milliseconds. */
export function gatherFreshMs(priority: FreshPriority): number {
  return terms[priority].leadMs * GATHERED_SHARE;
}
