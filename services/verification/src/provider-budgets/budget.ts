import type { ProviderBudget } from "../organization-settings/organization-settings.ts";

/** Who a call is made for: an API key or a user, or a monitor's run. */
export const budgetClasses = ["direct", "monitors"] as const;
export type BudgetClass = (typeof budgetClasses)[number];

/** One organization's calls at one provider. */
export interface OrganizationCalls extends Readonly<Record<BudgetClass, number>> {
  /** The beginning of the day. */
  readonly day: Date;
  /** The beginning of the minute in which the last direct call was made; absent before the first. */
  readonly minute?: Date;
  /** Direct calls in that minute. */
  readonly minute_calls: number;
}

export const DAY_MS = 86_400_000;
export const MINUTE_MS = 60_000;

/** Share of a day's budget that is kept for a class, in per cent; the rest is for whoever comes. */
const RESERVED_PERCENT: Readonly<Record<BudgetClass, number>> = { direct: 30, monitors: 50 };

/** Returns the calls of a day's quota that one organization may cause: at least one; undefined without a quota. */
export function maxPerOrganization(quota: number | undefined, percent: number): number | undefined {
  return quota === undefined ? undefined : Math.max(1, Math.floor((quota * percent) / 100));
}

/** Returns the part of a day's budget that only this class may spend. */
export function reserveOf(budgetClass: BudgetClass, { perDay }: Pick<ProviderBudget, "perDay">): number {
  return Math.floor((perDay * RESERVED_PERCENT[budgetClass]) / 100);
}

/** Returns how many calls a class may still make in the day: what is left without the unspent reserve of the other. */
export function leftToday(
  calls: Readonly<Record<BudgetClass, number>>,
  budgetClass: BudgetClass,
  budget: Pick<ProviderBudget, "perDay">,
): number {
  const other = otherThan(budgetClass);
  const keptForOther = Math.max(calls[other], reserveOf(other, budget));
  return Math.max(0, budget.perDay - calls[budgetClass] - keptForOther);
}

/** Returns true where calls that were counted before forbid a further one at this time. Only direct calls have a minute's budget. */
export function isSpent(calls: OrganizationCalls, budgetClass: BudgetClass, budget: ProviderBudget, at: Date): boolean {
  if (startOf(at, DAY_MS) > calls.day) return false;
  if (leftToday(calls, budgetClass, budget) === 0) return true;
  const isThisMinute = calls.minute !== undefined && calls.minute >= startOf(at, MINUTE_MS);
  return budgetClass === "direct" && isThisMinute && calls.minute_calls >= budget.perMinute;
}

export function otherThan(budgetClass: BudgetClass): BudgetClass {
  return budgetClass === "direct" ? "monitors" : "direct";
}

/** Returns the beginning of the UTC minute or day. */
export function startOf(at: Date, lengthMs: number): Date {
  return new Date(Math.floor(at.getTime() / lengthMs) * lengthMs);
}
