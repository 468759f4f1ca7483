import { byKey, createBatcher } from "@vvs/batching";
import { withoutDeadline } from "@vvs/deadline";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import { within } from "@vvs/retry";
import type { Tenant } from "@vvs/tenant";
import type { Db } from "mongodb";
import type {
  OrganizationSettings,
  ProviderBudget,
  ReadOrganizationSettings,
} from "../organization-settings/organization-settings.ts";
import type { CallClass } from "../providers/call-class.ts";
import { ProviderError } from "../providers/provider.ts";
import { type BudgetClass, dayBudget, isSpent, type OrganizationCalls } from "./budget.ts";
import { createBudgetStore, type Spender } from "./budget-store.ts";

/** Time limit for one database operation, in milliseconds; after it, the call is made without being counted. */
const STORE_MS = 2_000;
/** Maximum number of attempts that are charged together. */
const MAX_BATCH = 1_000;
/** Maximum number of counts that are kept in memory; beyond it, all are forgotten. */
const MAX_SEEN = 10_000;

/** What counts an attempt's calls after its first one. */
export interface Charge {
  /** Counts one further HTTP call of the attempt, before it is made. Never fails, and refuses nothing. */
  more(): Promise<void>;
  /** Takes the first call back, since it was not made. Never fails. */
  giveBack(): Promise<void>;
}

/** Limits the calls that each organization causes at each live provider. */
export interface ProviderBudgets {
  /** Errors: ProviderError `budget_spent` where this replica knows that no call is left. Writes nothing. */
  check(tenant: Tenant, provider: string, callClass: CallClass): Promise<void>;
  /**
   * Counts an attempt's first call before it is made. Without a budget, and while the database is unavailable, the call is
   * allowed and not counted. Errors: ProviderError `budget_spent`.
   */
  charge(tenant: Tenant, provider: string, callClass: CallClass): Promise<Charge>;
  /**
   * Returns today's calls at those of the providers that have a budget; none in the sandbox. Errors: service_unavailable
   * while the budgets are unknown; the database's.
   */
  usage(tenant: Tenant, providers: readonly string[]): Promise<ProviderUsage[]>;
  /** Returns today's calls of those organizations that caused the most at a provider, most first. Errors: the database's. */
  busiest(provider: string, limit: number): Promise<OrganizationUsage[]>;
}

/** One organization's calls at a provider today, and how many each class has left; that is absent where no budget is known. */
export interface OrganizationUsage extends Readonly<Record<BudgetClass, number>> {
  readonly organizationId: string;
  readonly left?: Readonly<Record<BudgetClass, number>>;
}

/** An organization's calls at one provider today. */
export interface ProviderUsage extends ProviderBudget, Readonly<Record<BudgetClass, number>> {
  readonly provider: string;
  readonly directLeft: number;
  readonly monitorsLeft: number;
}

/** An attempt to charge. */
interface Taking {
  readonly spender: Spender;
  readonly budget: ProviderBudget;
}

/** Whether an attempt's call was counted, and the time by which it was. */
interface Taken {
  readonly isCounted: boolean;
  readonly at: Date;
}

const FREE: Charge = { more: async () => undefined, giveBack: async () => undefined };

export function createProviderBudgets(options: {
  /** The live environment's database. */
  db: Db;
  settings: ReadOrganizationSettings;
  /** Returns the most that one organization may cause at a provider per day; undefined where there is no such limit. */
  maxPerDay: (provider: string) => number | undefined;
  now: () => Date;
  logger: Logger;
  /** Time limit for one database operation, in milliseconds; 2,000 where absent. */
  storeMs?: number;
}): ProviderBudgets {
  const { settings, maxPerDay, now, logger, storeMs = STORE_MS } = options;
  const store = createBudgetStore(options.db);
  /** The newest counts that this replica has seen, by organization and provider. */
  const seen = new Map<string, OrganizationCalls>();
  const limit = <T>(work: Promise<T>) => within(storeMs, "the database did not answer in time", work);

  async function budgetOf({ organizationId, environment }: Tenant, provider: string) {
    if (environment === "sandbox") return undefined;
    return budgetIn(await settings.get(organizationId), provider);
  }

  /** Returns the organization's budget at a provider, at most its share of the provider's quota. */
  function budgetIn(known: OrganizationSettings | undefined, provider: string): ProviderBudget | undefined {
    const budget = known?.providerBudgets.get(provider);
    const most = maxPerDay(provider);
    return budget && most !== undefined ? { ...budget, perDay: Math.min(budget.perDay, most) } : budget;
  }

  function see(spender: Spender, calls: OrganizationCalls): void {
    if (seen.size >= MAX_SEEN) seen.clear();
    seen.set(keyOf(spender), calls);
  }

  function requireUnspent(spender: Spender, budget: ProviderBudget): void {
    const calls = seen.get(keyOf(spender));
    if (calls && isSpent(calls, spender.budgetClass, budget, now())) throw spent();
  }

  /** Charges one organization's attempts at one provider, all at once. Returns when each was charged; undefined: not counted. */
  async function takeTogether(takings: readonly Taking[]): Promise<(Taken | undefined)[]> {
    const { spender, budget } = takings[0]!;
    const at = now();
    try {
      const calls = await limit(store.take(spender, { wanted: takings.length, budget, at }));
      see(spender, calls);
      return takings.map((_taking, place) => ({ isCounted: place < calls.granted, at }));
    } catch (err) {
      uncounted(err, spender);
      return takings.map(() => undefined);
    }
  }

  // Attempts that begin while others are being charged share the next write, so that a burst never contends for a document.
  const take = createBatcher({
    run: byKey(({ spender }) => `${spender.budgetClass} ${keyOf(spender)}`, takeTogether),
    maxSize: MAX_BATCH,
    atOnce: 1,
  });

  async function quietly(work: () => Promise<unknown>, spender: Spender): Promise<void> {
    try {
      await limit(work());
    } catch (err) {
      uncounted(err, spender);
    }
  }

  const uncounted = (err: unknown, { provider }: Spender) =>
    logger.warn({ err, provider }, "a call of a provider could not be counted against its organization's budget");

  return {
    async check(tenant, provider, callClass) {
      const budget = await budgetOf(tenant, provider);
      if (budget) requireUnspent(spenderOf(tenant, provider, callClass), budget);
    },
    async charge(tenant, provider, callClass) {
      const budget = await budgetOf(tenant, provider);
      if (!budget) return FREE;
      const spender = spenderOf(tenant, provider, callClass);
      // An attempt is charged even if its caller gives up meanwhile.
      const taken = await withoutDeadline(() => take({ spender, budget }));
      if (!taken) return FREE;
      if (!taken.isCounted) throw spent();
      const { at } = taken;
      return {
        more: () => quietly(() => store.add(spender, { calls: 1, at }), spender),
        async giveBack() {
          seen.delete(keyOf(spender));
          await quietly(() => store.add(spender, { calls: -1, at }), spender);
        },
      };
    },
    async usage({ organizationId, environment }, providers) {
      if (environment === "sandbox") return [];
      const known = await settings.get(organizationId);
      if (!known) throw new ServiceError("service_unavailable", { retryAfterSeconds: 1 });
      const used = providers.map(async (provider) => {
        const budget = budgetIn(known, provider);
        if (!budget) return [];
        const { direct, monitors } = await store.read(organizationId, provider, now());
        const { perMinute, perDay } = budget;
        const left = leftOf({ direct, monitors }, budget);
        return [
          { provider, direct, monitors, perMinute, perDay, directLeft: left.direct, monitorsLeft: left.monitors },
        ];
      });
      return (await Promise.all(used)).flat();
    },
    async busiest(provider, limit) {
      const found = await store.busiest(provider, limit, now());
      return Promise.all(
        found.map(async ({ organization_id: organizationId, direct, monitors }) => {
          const budget = budgetIn(await settings.get(organizationId), provider);
          const left = budget && { left: leftOf({ direct, monitors }, budget) };
          return { organizationId, direct, monitors, ...left };
        }),
      );
    },
  };
}

/** Returns how many calls each class may still make today. */
function leftOf(calls: Readonly<Record<BudgetClass, number>>, budget: ProviderBudget): Record<BudgetClass, number> {
  const left = (budgetClass: BudgetClass) => dayBudget.left(calls, budgetClass, budget.perDay);
  return { direct: left("direct"), monitors: left("monitors") };
}

function spenderOf({ organizationId }: Tenant, provider: string, callClass: CallClass): Spender {
  const budgetClass: BudgetClass = callClass === "direct" ? "direct" : "monitors";
  return { organizationId, provider, budgetClass };
}

function keyOf({ organizationId, provider }: Spender): string {
  return `${organizationId} ${provider}`;
}

function spent(): ProviderError {
  return new ProviderError("budget_spent", { isFault: false });
}
