import { createShares } from "@vvs/mongo";
import { startOfUtcDay } from "@vvs/registration";
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

const MINUTE_MS = 60_000;

/** How the classes share a day's budget. */
export const dayBudget = createShares<BudgetClass>({ direct: 30, monitors: 50 });

/** Returns the calls of a day's quota that one organization may cause: at least one; undefined without a quota. */
export function maxPerOrganization(quota: number | undefined, percent: number): number | undefined {
  return quota === undefined ? undefined : Math.max(1, Math.floor((quota * percent) / 100));
}

/** Returns true where calls that were counted before forbid a further one at this time. Only direct calls have a minute's budget. */
export function isSpent(calls: OrganizationCalls, budgetClass: BudgetClass, budget: ProviderBudget, at: Date): boolean {
  if (startOfUtcDay(at) > calls.day) return false;
  if (dayBudget.left(calls, budgetClass, budget.perDay) === 0) return true;
  const isThisMinute = calls.minute !== undefined && calls.minute >= startOfMinute(at);
  return budgetClass === "direct" && isThisMinute && calls.minute_calls >= budget.perMinute;
}

export function startOfMinute(at: Date): Date {
  return new Date(Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS);
}
