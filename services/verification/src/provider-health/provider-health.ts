import { type CircuitSettings, isUnsteady, phaseOf } from "./circuit.ts";
import { type ProviderState, quotaRemaining, quotaShutUntil } from "./provider-state.ts";

/** A provider's state, as `GET /v1/providers` shows it. */
export type ProviderCondition = "available" | "degraded" | "unavailable";

export interface ProviderHealth {
  readonly condition: ProviderCondition;
  /** Calls left today; undefined where unknown. */
  readonly quotaRemaining: number | undefined;
  /** When the provider last answered; undefined where it never did. */
  readonly lastSuccessAt: Date | undefined;
}

export interface HealthOptions {
  readonly settings: CircuitSettings;
  /** Calls per UTC day; undefined where no quota is configured. */
  readonly quota: number | undefined;
  readonly at: Date;
}

/** Returns a provider's health at a time. */
export function healthOf(state: ProviderState, options: HealthOptions): ProviderHealth {
  return {
    condition: conditionOf(state, options),
    quotaRemaining: quotaRemaining(state, options.quota, options.at),
    lastSuccessAt: state.lastSuccessAt,
  };
}

/**
 * Returns `unavailable` while the circuit is open or a quota is used up; `degraded` after recent faults and while a probe is
 * due or in flight; otherwise `available`.
 */
function conditionOf(state: ProviderState, { settings, quota, at }: HealthOptions): ProviderCondition {
  const phase = phaseOf(state.circuit, at);
  if (phase === "open" || quotaShutUntil(state, quota, at)) return "unavailable";
  return phase === "closed" && !isUnsteady(state.circuit, settings, at) ? "available" : "degraded";
}
