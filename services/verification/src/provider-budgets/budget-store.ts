import { isDuplicateKey } from "@vvs/mongo";
import { utcDay } from "@vvs/registration";
import type { Collection, Db } from "mongodb";
import type { ProviderBudget } from "../organization-settings/organization-settings.ts";
import {
  type BudgetClass,
  DAY_MS,
  MINUTE_MS,
  type OrganizationCalls,
  otherThan,
  reserveOf,
  startOf,
} from "./budget.ts";

/** One organization's calls at one provider on one day. `_id`: `<organization>:<provider>:<YYYY-MM-DD>`. */
interface OrganizationCallsDocument extends OrganizationCalls {
  readonly _id: string;
  readonly organization_id: string;
  readonly provider: string;
  /** How many calls the last write of `take` counted. */
  readonly granted: number;
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
      const found = await collection.findOne({
        _id: idOf({ organizationId, provider }, at),
        organization_id: organizationId,
      });
      return found ?? { day: startOf(at, DAY_MS), ...NO_CALLS };
    },
    /** Returns the calls of those organizations that caused the most at a provider on the day of `at`, most first. */
    busiest(provider: string, limit: number, at: Date): Promise<OrganizationCallsDocument[]> {
      return collection
        .aggregate<OrganizationCallsDocument>([
          { $match: { day: startOf(at, DAY_MS), provider } },
          { $set: { calls: { $add: ["$direct", "$monitors"] } } },
          { $sort: { calls: -1, _id: 1 } },
          { $limit: limit },
        ])
        .toArray();
    },
    /**
     * Counts as many of `wanted` calls as the budget has left: one write, which decides and counts. Returns how many were
     * counted, and the calls of the day.
     */
    async take(
      spender: Spender,
      { wanted, budget, at }: { wanted: number; budget: ProviderBudget; at: Date },
    ): Promise<{ granted: number; calls: OrganizationCalls }> {
      const count = async () => {
        const update = counting(spender, { wanted, budget, at });
        const options = { upsert: true, returnDocument: "after" } as const;
        const written = await collection.findOneAndUpdate({ _id: idOf(spender, at) }, update, options);
        return { granted: written!.granted, calls: written! };
      };
      try {
        return await count();
      } catch (error) {
        // Another replica has just made the document.
        if (!isDuplicateKey(error)) throw error;
        return count();
      }
    },
    /** Adds to the counts of the day of `at`: further calls of an attempt, or a call that was not made (-1). */
    async add({ budgetClass, ...spender }: Spender, { calls, at }: { calls: number; at: Date }): Promise<void> {
      const counts = { [budgetClass]: calls, ...(budgetClass === "direct" && { minute_calls: calls }) };
      await collection.updateOne({ _id: idOf(spender, at), organization_id: spender.organizationId }, { $inc: counts });
    },
  };
}

/**
 * Returns the update that counts calls as far as the budget allows. A minute does not begin again for a replica whose clock
 * is behind.
 */
function counting(
  { organizationId, provider, budgetClass }: Spender,
  { wanted, budget, at }: { wanted: number; budget: ProviderBudget; at: Date },
): object[] {
  const minute = startOf(at, MINUTE_MS);
  const other = otherThan(budgetClass);
  const keptForOther = { $max: [`$${other}`, reserveOf(other, budget)] };
  const left: object[] = [{ $subtract: [budget.perDay, { $add: [`$${budgetClass}`, keptForOther] }] }];
  const counted: Record<string, object> = { [budgetClass]: { $add: [`$${budgetClass}`, "$granted"] } };
  if (budgetClass === "direct") {
    left.push({ $subtract: [budget.perMinute, "$minute_calls"] });
    counted.minute_calls = { $add: ["$minute_calls", "$granted"] };
  }
  const begun = {
    organization_id: { $literal: organizationId },
    provider: { $literal: provider },
    day: startOf(at, DAY_MS),
    direct: { $ifNull: ["$direct", 0] },
    monitors: { $ifNull: ["$monitors", 0] },
    minute_calls: { $cond: [{ $gte: ["$minute", minute] }, "$minute_calls", 0] },
    minute: { $max: ["$minute", minute] },
  };
  return [{ $set: begun }, { $set: { granted: { $max: [0, { $min: [wanted, ...left] }] } } }, { $set: counted }];
}

function idOf({ organizationId, provider }: Pick<Spender, "organizationId" | "provider">, at: Date): string {
  return `${organizationId}:${provider}:${utcDay(at)}`;
}
