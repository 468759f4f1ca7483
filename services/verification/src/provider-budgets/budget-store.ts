import { calendarWindow, take } from "@vvs/mongo";
import { startOfUtcDay, utcDay } from "@vvs/registration";
import type { Collection, Db } from "mongodb";
import type { ProviderBudget } from "../organization-settings/organization-settings.ts";
import { type BudgetClass, dayBudget, type OrganizationCalls, startOfMinute } from "./budget.ts";

/** One organization's calls at one provider on one day. `_id`: `<organization>:<provider>:<YYYY-MM-DD>`. */
interface OrganizationCallsDocument extends OrganizationCalls {
  readonly _id: string;
  readonly organization_id: string;
  readonly provider: string;
}

export const organizationCallsOf = (db: Db): Collection<OrganizationCallsDocument> =>
  db.collection("organization_provider_calls");

/** An organization's calls of one class at one provider. */
export interface Spender {
  readonly organizationId: string;
  readonly provider: string;
  readonly budgetClass: BudgetClass;
}

const NO_CALLS = { direct: 0, monitors: 0, minute_calls: 0 };

/** Counts the calls that organizations cause at the live providers, for all replicas. */
export function createBudgetStore(db: Db) {
  const collection = organizationCallsOf(db);
  return {
    /** Returns an organization's calls at a provider on the day of `at`. */
    async read(organizationId: string, provider: string, at: Date): Promise<OrganizationCalls> {
      const _id = idOf({ organizationId, provider }, at);
      const found = await collection.findOne({ _id, organization_id: organizationId });
      return found ?? { day: startOfUtcDay(at), ...NO_CALLS };
    },
    /** Returns the calls of those organizations that caused the most at a provider on the day of `at`, most first. */
    busiest(provider: string, limit: number, at: Date): Promise<OrganizationCallsDocument[]> {
      return collection
        .aggregate<OrganizationCallsDocument>([
          { $match: { day: startOfUtcDay(at), provider } },
          { $set: { calls: { $add: ["$direct", "$monitors"] } } },
          { $sort: { calls: -1, _id: 1 } },
          { $limit: limit },
        ])
        .toArray();
    },
    /** Counts as many of `wanted` calls as the budget has left. Returns how many, with the calls of the day. */
    take(
      { organizationId, provider, budgetClass }: Spender,
      { wanted, budget, at }: { wanted: number; budget: ProviderBudget; at: Date },
    ): Promise<OrganizationCalls & { granted: number }> {
      const ofDay = { [budgetClass]: dayBudget.leftIn(budgetClass, budget.perDay) };
      return take(collection, idOf({ organizationId, provider }, at), {
        wanted,
        raise: budgetClass === "direct" ? { ...ofDay, minute_calls: budget.perMinute } : ofDay,
        numbers: Object.keys(NO_CALLS),
        set: { organization_id: organizationId, provider, day: startOfUtcDay(at) },
        window: { number: "minute_calls", ...calendarWindow("minute", startOfMinute(at)) },
      });
    },
    /** Adds to the counts of the day of `at`: further calls of an attempt, or a call that was not made (-1). */
    async add({ budgetClass, ...spender }: Spender, { calls, at }: { calls: number; at: Date }): Promise<void> {
      const counts = { [budgetClass]: calls, ...(budgetClass === "direct" && { minute_calls: calls }) };
      await collection.updateOne({ _id: idOf(spender, at), organization_id: spender.organizationId }, { $inc: counts });
    },
  };
}

function idOf({ organizationId, provider }: Pick<Spender, "organizationId" | "provider">, at: Date): string {
  return `${organizationId}:${provider}:${utcDay(at)}`;
}
