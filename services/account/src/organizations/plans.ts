import type { Environment } from "@vvs/tenant";
import { invalid } from "../refusals.ts";

export const plans = ["starter", "growth", "enterprise"] as const;

export type Plan = (typeof plans)[number];

/** The plan of an organization, and what it agreed to. */
export interface PlanTerms {
  readonly plan: Plan;
  /** Requests per minute and key; only with Enterprise. */
  readonly limit_per_minute?: number;
}

const FIXED_LIMITS: Readonly<Record<"starter" | "growth", number>> = { starter: 100, growth: 500 };
const LIVE_MONITORS: Readonly<Record<Plan, number>> = { starter: 1_000, growth: 10_000, enterprise: 100_000 };
const SANDBOX_MONITORS = 100;
const LIVE_ENTITIES: Readonly<Record<Plan, number>> = { starter: 25_000, growth: 250_000, enterprise: 1_000_000 };
const MAX_LIMIT = 1_000_000;

/** Returns the maximum requests per minute of each key of the organization. */
export function limitPerMinute(terms: PlanTerms): number {
  return terms.plan === "enterprise" ? terms.limit_per_minute! : FIXED_LIMITS[terms.plan];
}

/** Returns the maximum number of active monitors of the organization. */
export function activeMonitors({ plan }: PlanTerms, environment: Environment): number {
  return environment === "live" ? LIVE_MONITORS[plan] : SANDBOX_MONITORS;
}

/** Returns the maximum number of entities that the organization can create; 0 in the sandbox, where entity has a limit. */
export function createdEntities({ plan }: PlanTerms, environment: Environment): number {
  return environment === "live" ? LIVE_ENTITIES[plan] : 0;
}

/** Returns the terms for a plan and a limit, which Enterprise requires and no other plan allows. Errors: invalid_request. */
export function planTerms(plan: string, limit: number | undefined): PlanTerms {
  if (plan === "starter" || plan === "growth") {
    if (limit !== undefined)
      throw invalid("limit", `belongs to the plan enterprise; ${plan} has ${FIXED_LIMITS[plan]}`);
    return { plan };
  }
  if (plan !== "enterprise") throw invalid("plan", `must be one of ${plans.join(", ")}`);
  if (limit === undefined || !Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw invalid("limit", `must be a whole number of requests per minute, 1–${MAX_LIMIT}`);
  }
  return { plan, limit_per_minute: limit };
}
