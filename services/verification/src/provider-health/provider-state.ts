import { type AttemptEvent, afterAttempt, type Circuit, type CircuitSettings, closedCircuit } from "./circuit.ts";

/** What all replicas share about one provider of an environment. */
export interface ProviderState {
  /** Grows with each change, except when a call is counted; 0 where nothing is stored. */
  readonly revision: number;
  readonly circuit: Circuit;
  /** The time until which the provider said that it answers nothing; may be past. */
  readonly shutUntil?: Date;
  readonly lastSuccessAt?: Date;
  /** Calls in one UTC day; absent without a configured quota. */
  readonly calls?: CallCount;
}

/** Number of calls in one UTC day, YYYY-MM-DD. */
export interface CallCount {
  readonly day: string;
  readonly count: number;
}

/** The result of an attempt, with the time until which the provider answers nothing. */
export interface AttemptNote extends AttemptEvent {
  readonly shutUntil?: Date;
}

export const unknownProvider: ProviderState = { revision: 0, circuit: closedCircuit };

/** Returns the state after attempts, in the order they ended. `shutUntil` never moves to an earlier time. */
export function afterNotes(
  state: ProviderState,
  notes: readonly AttemptNote[],
  settings: CircuitSettings,
): ProviderState {
  let { circuit, shutUntil, lastSuccessAt } = state;
  for (const note of notes) {
    circuit = afterAttempt(circuit, note, settings);
    shutUntil = later(shutUntil, note.shutUntil);
    if (note.kind === "answered") lastSuccessAt = later(lastSuccessAt, note.at);
  }
  return { ...state, circuit, shutUntil, lastSuccessAt };
}

/** Returns until when a quota is used up, by the provider's word or the configured calls per day; undefined where none is. */
export function quotaShutUntil(state: ProviderState, quota: number | undefined, at: Date): Date | undefined {
  const announced = state.shutUntil && state.shutUntil > at ? state.shutUntil : undefined;
  const isUsedUp = quota !== undefined && callsOn(state, dayOf(at)) >= quota;
  return later(announced, isUsedUp ? midnightAfter(at) : undefined);
}

/** Returns the calls left today; undefined where that is unknown. */
export function quotaRemaining(state: ProviderState, quota: number | undefined, at: Date): number | undefined {
  if (quotaShutUntil(state, quota, at)) return 0;
  return quota === undefined ? undefined : quota - callsOn(state, dayOf(at));
}

/** The UTC day of a time, YYYY-MM-DD. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

function callsOn({ calls }: ProviderState, day: string): number {
  return calls && calls.day >= day ? calls.count : 0;
}

function midnightAfter(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + 1));
}

function later(one: Date | undefined, other: Date | undefined): Date | undefined {
  if (!one || !other) return one ?? other;
  return one > other ? one : other;
}
