import { ServiceError } from "@vvs/errors";
import type { Environment } from "@vvs/tenant";

export const plans = ["starter", "growth", "enterprise"] as const;

export type Plan = (typeof plans)[number];

/** What an organization has agreed to. */
export interface PlanTerms {
  readonly plan: Plan;
  /** Requests per minute and key; of Enterprise alone. */
  readonly limit_per_minute?: number;
}

const FIXED_LIMITS: Readonly<Record<"starter" | "growth", number>> = { starter: 100, growth: 500 };
const LIVE_MONITORS: Readonly<Record<Plan, number>> = { starter: 1_000, growth: 10_000, enterprise: 100_000 };
const SANDBOX_MONITORS = 100;
const MAX_LIMIT = 1_000_000;

/** Requests per minute that each key of the organization may make. */
export function limitPerMinute(terms: PlanTerms): number {
  return terms.plan === "enterprise" ? terms.limit_per_minute! : FIXED_LIMITS[terms.plan];
}

/** Active monitors that the organization may have. */
export function activeMonitors({ plan }: PlanTerms, environment: Environment): number {
  return environment === "live" ? LIVE_MONITORS[plan] : SANDBOX_MONITORS;
}

/** The terms that a plan and a limit make. Errors: invalid_request, as Enterprise alone has a limit of its own, and must. */
export function planTerms(plan: string, limit: number | undefined): PlanTerms {
  if (plan === "starter" || plan === "growth") {
    if (limit !== undefined)
      throw refusal("limit", `belongs to the plan enterprise; ${plan} has ${FIXED_LIMITS[plan]}`);
    return { plan };
  }
  if (plan !== "enterprise") throw refusal("plan", `must be one of ${plans.join(", ")}`);
  if (limit === undefined || !Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw refusal("limit", `must be a whole number of requests per minute, 1–${MAX_LIMIT}`);
  }
  return { plan, limit_per_minute: limit };
}

function refusal(path: string, message: string): ServiceError {
  return new ServiceError("invalid_request", { details: [{ path, message }] });
}
