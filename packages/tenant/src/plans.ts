export const plans = ["starter", "growth", "enterprise"] as const;

/** What an organization pays for. */
export type Plan = (typeof plans)[number];

/** Requests per minute and API key. With Enterprise the number is agreed. */
export const requestsPerMinute: Readonly<Record<Exclude<Plan, "enterprise">, number>> = { starter: 100, growth: 500 };

/** Active monitors of an organization in live, and with every plan in the sandbox. */
export const liveMonitors: Readonly<Record<Plan, number>> = { starter: 1_000, growth: 10_000, enterprise: 100_000 };
export const SANDBOX_MONITORS = 100;

/** Rows of jobs without their last answer that an organization can have in each environment. */
export const openJobRows: Readonly<Record<Plan, number>> = { starter: 10_000, growth: 100_000, enterprise: 100_000 };

/** Entities that an organization can create in live. */
export const liveEntities: Readonly<Record<Plan, number>> = { starter: 25_000, growth: 250_000, enterprise: 1_000_000 };
