import { dayOf } from "@vvs/registration";
import {
  type AttemptResult,
  afterAttempt,
  type Circuit,
  type CircuitSettings,
  closedCircuit,
  isUnsteady,
  phaseOf,
} from "./circuit.ts";

/** What all replicas share about one provider of an environment, as it is stored. */
export interface ProviderState {
  /** Grows with each change, except when a call is counted; 0 where nothing is stored. */
  readonly revision: number;
  readonly circuit: Circuit;
  /** The time until which the provider said that it answers nothing; may be past. */
  readonly shut_until?: Date;
  readonly last_success_at?: Date;
  /** Number of calls in one UTC day, YYYY-MM-DD; absent without a configured quota. */
  readonly calls?: { readonly day: string; readonly count: number };
}

export const unknownProvider: ProviderState = { revision: 0, circuit: closedCircuit };

/** Returns the state after attempts, in the order they ended. `shut_until` never moves to an earlier time. */
export function afterAttempts(
  state: ProviderState,
  results: readonly AttemptResult[],
  settings: CircuitSettings,
): ProviderState {
  let { circuit, shut_until, last_success_at } = state;
  for (const result of results) {
    circuit = afterAttempt(circuit, result, settings);
    shut_until = later(shut_until, result.shutUntil);
    if (result.kind === "answered") last_success_at = later(last_success_at, result.at);
  }
  return { ...state, circuit, shut_until, last_success_at };
}

/**
 * Returns true while a quota is used up: the provider said so, or the day's calls reach `quota` (undefined where none is
 * configured).
 */
export function isQuotaUsedUp(state: ProviderState, quota: number | undefined, at: Date): boolean {
  const isAnnounced = state.shut_until !== undefined && state.shut_until > at;
  return isAnnounced || (quota !== undefined && callsOn(state, dayOf(at)) >= quota);
}

/** A provider's health, as `GET /v1/providers` shows it. */
export interface ProviderHealth {
  /**
   * `unavailable` while the circuit is open or a quota is used up; `degraded` after recent faults and while a probe is due
   * or in flight; otherwise `available`.
   */
  readonly condition: "available" | "degraded" | "unavailable";
  /** Calls left today; undefined where unknown. */
  readonly quotaRemaining: number | undefined;
  /** When the provider last answered; undefined where it never did. */
  readonly lastSuccessAt: Date | undefined;
}

/** Returns a provider's health at a time. `quota`: calls per UTC day; undefined where none is configured. */
export function healthOf(
  state: ProviderState,
  { settings, quota, at }: { settings: CircuitSettings; quota: number | undefined; at: Date },
): ProviderHealth {
  const isUsedUp = isQuotaUsedUp(state, quota, at);
  const phase = phaseOf(state.circuit, at);
  const isSteady = phase === "closed" && !isUnsteady(state.circuit, settings, at);
  const callsLeft = quota === undefined ? undefined : quota - callsOn(state, dayOf(at));
  return {
    condition: phase === "open" || isUsedUp ? "unavailable" : isSteady ? "available" : "degraded",
    quotaRemaining: isUsedUp ? 0 : callsLeft,
    lastSuccessAt: state.last_success_at,
  };
}

function callsOn({ calls }: ProviderState, day: string): number {
  return calls && calls.day >= day ? calls.count : 0;
}

function later(one: Date | undefined, other: Date | undefined): Date | undefined {
  if (!one || !other) return one ?? other;
  return one > other ? one : other;
}
