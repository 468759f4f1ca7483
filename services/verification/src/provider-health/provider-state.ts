import { callQuota } from "./call-quota.ts";
import {
  type AttemptResult,
  afterAttempt,
  type Circuit,
  type CircuitSettings,
  closedCircuit,
  isUnsteady,
  phaseOf,
} from "./circuit.ts";
import type { CallsToday } from "./provider-calls.ts";

/** What all replicas share about one provider of an environment, as it is stored. */
export interface ProviderState {
  /** Grows with each change; 0 where nothing is stored. */
  readonly revision: number;
  readonly circuit: Circuit;
  /**
   * The times until which the provider said that it answers nothing, by the fingerprint of the key that it said so to; may
   * be past.
   */
  readonly shut?: Readonly<Record<string, Date>>;
  readonly last_success_at?: Date;
}

export const unknownProvider: ProviderState = { revision: 0, circuit: closedCircuit };

/** The key of a provider whose calls need none, or whose key is not known. */
export const NO_KEY = "none";

/** Returns the state after attempts, in the order they ended. The times of `shut` never become earlier. */
export function afterAttempts(
  state: ProviderState,
  results: readonly AttemptResult[],
  settings: CircuitSettings,
): ProviderState {
  let { circuit, shut, last_success_at } = state;
  for (const result of results) {
    circuit = afterAttempt(circuit, result, settings);
    shut = shutAfter(shut, result);
    if (result.kind === "answered") last_success_at = later(last_success_at, result.at);
  }
  return { ...state, circuit, shut, last_success_at };
}

/** Returns the times by key after an attempt, without those of other keys that are past. */
function shutAfter(shut: ProviderState["shut"], { at, shutUntil, key = NO_KEY }: AttemptResult): ProviderState["shut"] {
  if (!shutUntil) return shut;
  const others = Object.entries(shut ?? {}).filter(([other, until]) => other !== key && until > at);
  return { ...Object.fromEntries(others), [key]: later(shut?.[key], shutUntil)! };
}

/** Returns true while the provider answers nothing to a key, since it said that the key's quota is used up. */
export function isShut({ shut }: ProviderState, key: string, at: Date): boolean {
  const until = shut?.[key];
  return until !== undefined && until > at;
}

/** A provider's health, as `GET /v1/providers` shows it. */
export interface ProviderHealth {
  /**
   * `unavailable` while the circuit is open or direct callers have no calls left; `degraded` after recent faults and while
   * a probe is due or in flight; otherwise `available`.
   */
  readonly condition: "available" | "degraded" | "unavailable";
  /** HTTP calls that may still be made for direct callers today; undefined where unknown. */
  readonly quotaRemaining: number | undefined;
  /** Today's HTTP calls with the key in use; undefined without a configured quota. */
  readonly calls: CallsToday | undefined;
  /** When the provider last answered; undefined where it never did. */
  readonly lastSuccessAt: Date | undefined;
}

/** Returns a provider's health at a time. `calls`: undefined where no quota is configured. */
export function healthOf(
  state: ProviderState,
  { settings, key, calls, at }: { settings: CircuitSettings; key: string; calls: CallsToday | undefined; at: Date },
): ProviderHealth {
  const phase = phaseOf(state.circuit, at);
  const isSteady = phase === "closed" && !isUnsteady(state.circuit, settings, at);
  const left = calls && callQuota.left(calls, "direct", calls.quota);
  const quotaRemaining = isShut(state, key, at) ? 0 : left;
  return {
    condition: phase === "open" || quotaRemaining === 0 ? "unavailable" : isSteady ? "available" : "degraded",
    quotaRemaining,
    calls,
    lastSuccessAt: state.last_success_at,
  };
}

function later(one: Date | undefined, other: Date | undefined): Date | undefined {
  if (!one || !other) return one ?? other;
  return one > other ? one : other;
}
