import { type CircuitSettings, isUnsteady, phaseOf } from "./circuit.ts";
import { type ProviderState, quotaRemaining, quotaShutUntil } from "./provider-state.ts";

/** As `GET /v1/providers` shows it. */
export type ProviderCondition = "available" | "degraded" | "unavailable";

export interface ProviderHealth {
  readonly condition: ProviderCondition;
  /** Calls left today; undefined where unknown. */
  readonly quotaRemaining: number | undefined;
  /** When it last answered; undefined where it never did. */
  readonly lastSuccessAt: Date | undefined;
}

export interface HealthOptions {
  readonly settings: CircuitSettings;
  /** Calls a day; undefined where none is configured. */
  readonly quota: number | undefined;
  readonly at: Date;
}

export function healthOf(state: ProviderState, options: HealthOptions): ProviderHealth {
  return {
    condition: conditionOf(state, options),
    quotaRemaining: quotaRemaining(state, options.quota, options.at),
    lastSuccessAt: state.lastSuccessAt,
  };
}

/**
 * Unavailable while the circuit is open or a quota keeps the provider shut; degraded after recent faults, and while a
 * probe is due or under way; available else.
 */
function conditionOf(state: ProviderState, { settings, quota, at }: HealthOptions): ProviderCondition {
  const phase = phaseOf(state.circuit, at);
  if (phase === "open" || quotaShutUntil(state, quota, at)) return "unavailable";
  return phase === "closed" && !isUnsteady(state.circuit, settings, at) ? "available" : "degraded";
}
