import { type AttemptEvent, afterAttempt, type Circuit, type CircuitSettings, closedCircuit } from "./circuit.ts";

/** What replicas share about one provider of an environment. */
export interface ProviderState {
  /** Grows with each change but the counting of calls; 0 where nothing is stored. */
  readonly revision: number;
  readonly circuit: Circuit;
  /** The provider said that it answers nothing before; may have passed. */
  readonly shutUntil?: Date;
  readonly lastSuccessAt?: Date;
  /** Calls of one UTC day, YYYY-MM-DD, where a quota is configured. */
  readonly calls?: CallCount;
}

export interface CallCount {
  readonly day: string;
  readonly count: number;
}

/** What an attempt came to, with the time until which the provider shut itself. */
export interface AttemptNote extends AttemptEvent {
  readonly shutUntil?: Date;
}

export const unknownProvider: ProviderState = { revision: 0, circuit: closedCircuit };

/** The state after attempts, in the order they ended. A time to be shut until is never brought forward. */
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

/** Until when a quota keeps the provider shut, its own word or the configured calls a day; undefined where none does. */
export function quotaShutUntil(state: ProviderState, quota: number | undefined, at: Date): Date | undefined {
  const said = state.shutUntil && state.shutUntil > at ? state.shutUntil : undefined;
  const isUsedUp = quota !== undefined && callsOn(state, dayOf(at)) >= quota;
  return later(said, isUsedUp ? midnightAfter(at) : undefined);
}

/** Calls left today; undefined where nobody can know. */
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
