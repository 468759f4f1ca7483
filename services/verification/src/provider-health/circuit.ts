/** When a circuit opens, and for how long. */
export interface CircuitSettings {
  /** Number of faults in a row that opens the circuit. */
  readonly faultsInRow: number;
  /** Share of faults (0–1) that opens the circuit, once a window holds `windowMinimum` attempts. */
  readonly faultShare: number;
  readonly windowMinimum: number;
  /** Length of the window, in milliseconds. */
  readonly windowMs: number;
  /** Length of the first opening, in milliseconds; each failed probe doubles it. */
  readonly openMs: number;
  /** Maximum length of an opening, in milliseconds. */
  readonly openMaxMs: number;
  /** How long a probe blocks other probes, in milliseconds: longer than any attempt takes, in case its replica died. */
  readonly probeLeaseMs: number;
}

export const defaultCircuitSettings: CircuitSettings = {
  faultsInRow: 5,
  faultShare: 0.5,
  windowMinimum: 20,
  windowMs: 60_000,
  openMs: 10_000,
  openMaxMs: 300_000,
  probeLeaseMs: 30_000,
};

/** The state of one provider's circuit, as it is stored. */
export interface Circuit {
  /** Faults since the last answer. */
  readonly faults_in_row: number;
  readonly window_started_at: Date;
  readonly window_attempts: number;
  readonly window_faults: number;
  /** Number of openings since the circuit was last closed; 0 while it is closed. */
  readonly openings: number;
  /** When a probe is due; absent while the circuit is closed. */
  readonly open_until?: Date;
  /** The probe in flight, and when it is given up. */
  readonly probe?: { readonly id: string; readonly until: Date };
}

/** The result of an attempt. */
export interface AttemptResult {
  /**
   * `answered`; `reached` where the provider is healthy but could not answer (data too old, quota used up); `fault`; or
   * `unknown` where the attempt says nothing about the provider.
   */
  readonly kind: "answered" | "reached" | "fault" | "unknown";
  readonly at: Date;
  /** The time until which the provider said that it answers nothing. */
  readonly shutUntil?: Date;
  /** Fingerprint of the key that the attempt was made with. */
  readonly key?: string;
  /** Set where the attempt was the probe. */
  readonly probeId?: string;
}

/** The phase of a circuit. `due`: the next attempt may be the probe. */
export type CircuitPhase = "closed" | "open" | "due" | "probing";

export const closedCircuit: Circuit = {
  faults_in_row: 0,
  window_started_at: new Date(0),
  window_attempts: 0,
  window_faults: 0,
  openings: 0,
};

export function phaseOf({ open_until, probe }: Circuit, at: Date): CircuitPhase {
  if (!open_until) return "closed";
  if (open_until > at) return "open";
  return probe && probe.until > at ? "probing" : "due";
}

/** Returns true after recent faults that were too few to open the circuit. */
export function isUnsteady(circuit: Circuit, settings: CircuitSettings, at: Date): boolean {
  if (circuit.faults_in_row > 0) return true;
  return !isWindowOver(circuit, settings, at) && isShare(circuit, settings, settings.faultShare / 2);
}

/**
 * Returns the circuit after an attempt. A closed circuit counts the attempt, and opens on too many faults. An open circuit
 * considers only the probe, since attempts made before it opened may end late. A probe that fails opens the circuit again
 * for longer; one that reached the provider closes it; after one with an unknown result, the next attempt is the probe.
 */
export function afterAttempt(circuit: Circuit, result: AttemptResult, settings: CircuitSettings): Circuit {
  if (!circuit.open_until) return result.kind === "unknown" ? circuit : counted(circuit, result, settings);
  if (!circuit.probe || circuit.probe.id !== result.probeId) return circuit;
  if (result.kind === "unknown") return { ...circuit, probe: undefined };
  if (result.kind !== "fault") return { ...closedCircuit, window_started_at: result.at };
  return opened({ ...circuit, faults_in_row: circuit.faults_in_row + 1 }, result.at, settings);
}

function counted(circuit: Circuit, { kind, at }: AttemptResult, settings: CircuitSettings): Circuit {
  const window = isWindowOver(circuit, settings, at) ? { ...closedCircuit, window_started_at: at } : circuit;
  const fault = kind === "fault" ? 1 : 0;
  const next: Circuit = {
    ...circuit,
    faults_in_row: kind === "reached" ? circuit.faults_in_row : fault * (circuit.faults_in_row + 1),
    window_started_at: window.window_started_at,
    window_attempts: window.window_attempts + 1,
    window_faults: window.window_faults + fault,
  };
  const isTooMuch = next.faults_in_row >= settings.faultsInRow || isShare(next, settings, settings.faultShare);
  return fault === 1 && isTooMuch ? opened(next, at, settings) : next;
}

function opened(circuit: Circuit, at: Date, settings: CircuitSettings): Circuit {
  const lastsMs = Math.min(settings.openMs * 2 ** circuit.openings, settings.openMaxMs);
  const open_until = new Date(at.getTime() + lastsMs);
  return { ...circuit, openings: circuit.openings + 1, open_until, probe: undefined };
}

function isWindowOver({ window_started_at }: Circuit, { windowMs }: CircuitSettings, at: Date): boolean {
  return at.getTime() - window_started_at.getTime() >= windowMs;
}

function isShare(circuit: Circuit, { windowMinimum }: CircuitSettings, share: number): boolean {
  return circuit.window_attempts >= windowMinimum && circuit.window_faults >= share * circuit.window_attempts;
}
