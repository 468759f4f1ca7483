import type { Environment } from "@vvs/tenant";
import { liveEntities, liveMonitors, type Plan, plans, requestsPerMinute, SANDBOX_MONITORS } from "@vvs/tenant/plans";
import { invalid } from "../refusals.ts";

/** The live providers at which organizations have budgets. */
const budgetedProviders = ["sam_gov_api", "taxbandits", "compliancely"] as const;

type BudgetedProvider = (typeof budgetedProviders)[number];

/** Maximum calls that one organization may cause at one provider. */
export interface ProviderBudget {
  /** For direct calls. */
  readonly per_minute: number;
  /** For direct calls and monitors' runs together, per UTC day. */
  readonly per_day: number;
}

type ProviderBudgets = Readonly<Record<BudgetedProvider, ProviderBudget>>;

const TIN_FAILURES: Readonly<Record<Plan, number>> = { starter: 100, growth: 1_000, enterprise: 5_000 };
const MAX_LIMIT = 1_000_000;
const MAX_PER_DAY = 100_000_000;

/** SAM.gov: direct calls and first runs of monitors; a queue that no budget limits asks for their later runs. */
const REGISTRATION_BUDGETS: Readonly<Record<Plan, ProviderBudget>> = {
  starter: { per_minute: 20, per_day: 200 },
  growth: { per_minute: 60, per_day: 1_000 },
  enterprise: { per_minute: 120, per_day: 5_000 },
};

/** Each TIN provider: half of a day's budget is kept for monitors, so a daily run of each active monitor fits. */
const TIN_BUDGETS: Readonly<Record<Plan, ProviderBudget>> = {
  starter: { per_minute: 20, per_day: 2 * liveMonitors.starter },
  growth: { per_minute: 60, per_day: 2 * liveMonitors.growth },
  enterprise: { per_minute: 300, per_day: 2 * liveMonitors.enterprise },
};

/** Returns the maximum requests per minute of each key of the organization. */
export function limitPerMinute(terms: PlanTerms): number {
  return terms.plan === "enterprise" ? terms.limit_per_minute! : requestsPerMinute[terms.plan];
}

/** Returns the maximum number of active monitors of the organization. */
export function activeMonitors({ plan }: PlanTerms, environment: Environment): number {
  return environment === "live" ? liveMonitors[plan] : SANDBOX_MONITORS;
}

/** Returns the maximum number of entities that the organization can create; 0 in the sandbox, where entity has a limit. */
export function createdEntities({ plan }: PlanTerms, environment: Environment): number {
  return environment === "live" ? liveEntities[plan] : 0;
}

/** Returns the organization's budgets at the live providers. */
export function providerBudgets({ plan, provider_budgets }: PlanTerms): ProviderBudgets {
  const tin = TIN_BUDGETS[plan];
  return { sam_gov_api: REGISTRATION_BUDGETS[plan], taxbandits: tin, compliancely: tin, ...provider_budgets };
}

/** Returns a provider by its name. Errors: invalid_request. */
export function budgetedProvider(name: string): BudgetedProvider {
  const found = budgetedProviders.find((each) => each === name);
  if (!found) throw invalid("provider", `must be one of ${budgetedProviders.join(", ")}`);
  return found;
}

/** Returns an agreed budget, checked. Errors: invalid_request. */
export function agreedBudget({ per_minute, per_day }: ProviderBudget): ProviderBudget {
  if (!isWithin(per_minute, MAX_LIMIT)) throw invalid("minute", `must be a whole number of calls, 1–${MAX_LIMIT}`);
  if (!isWithin(per_day, MAX_PER_DAY)) throw invalid("day", `must be a whole number of calls, 1–${MAX_PER_DAY}`);
  return { per_minute, per_day };
}

function isWithin(number: number, max: number): boolean {
  return Number.isInteger(number) && number >= 1 && number <= max;
}

/** Returns the maximum number of live tin_match questions of the organization that fail in a UTC day. */
export function tinFailuresPerDay({ plan }: PlanTerms): number {
  return TIN_FAILURES[plan];
}

/** Returns the terms for a plan and a limit, which Enterprise requires and no other plan allows. Errors: invalid_request. */
export function planTerms(plan: string, limit: number | undefined): PlanTerms {
  if (plan === "starter" || plan === "growth") {
    if (limit !== undefined)
      throw invalid("limit", `belongs to the plan enterprise; ${plan} has ${requestsPerMinute[plan]}`);
    return { plan };
  }
  if (plan !== "enterprise") throw invalid("plan", `must be one of ${plans.join(", ")}`);
  if (limit === undefined || !isWithin(limit, MAX_LIMIT)) {
    throw invalid("limit", `must be a whole number of requests per minute, 1–${MAX_LIMIT}`);
  }
  return { plan, limit_per_minute: limit };
}

/** The plan of an organization, and what it agreed to. */
export interface PlanTerms {
  readonly plan: Plan;
  /** Requests per minute and key; only with Enterprise. */
  readonly limit_per_minute?: number;
  /** Budgets that differ from those of the plan; only with Enterprise. */
  readonly provider_budgets?: Partial<ProviderBudgets>;
}
