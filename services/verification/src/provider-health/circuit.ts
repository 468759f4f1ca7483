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

/** The state of one provider's circuit. */
export interface Circuit {
  /** Faults since the last answer. */
  readonly faultsInRow: number;
  readonly windowStartedAt: Date;
  readonly windowAttempts: number;
  readonly windowFaults: number;
  /** Number of openings since the circuit was last closed; 0 while it is closed. */
  readonly openings: number;
  /** When a probe is due; absent while the circuit is closed. */
  readonly openUntil?: Date;
  /** The probe in flight, and when it is given up. */
  readonly probe?: { readonly id: string; readonly until: Date };
}

/**
 * The result of an attempt: `answered`; `reached` where the provider is healthy but could not answer (data too old, quota
 * used up); `fault`; or `unknown` where the attempt says nothing about the provider.
 */
export interface AttemptEvent {
  readonly kind: "answered" | "reached" | "fault" | "unknown";
  readonly at: Date;
  /** Set where the attempt was the probe. */
  readonly probeId?: string;
}

/** The phase of a circuit. `due`: the next attempt may be the probe. */
export type CircuitPhase = "closed" | "open" | "due" | "probing";

export const closedCircuit: Circuit = {
  faultsInRow: 0,
  windowStartedAt: new Date(0),
  windowAttempts: 0,
  windowFaults: 0,
  openings: 0,
};

export function phaseOf({ openUntil, probe }: Circuit, at: Date): CircuitPhase {
  if (!openUntil) return "closed";
  if (openUntil > at) return "open";
  return probe && probe.until > at ? "probing" : "due";
}

/** Returns true after recent faults that were too few to open the circuit. */
export function isUnsteady(circuit: Circuit, settings: CircuitSettings, at: Date): boolean {
  if (circuit.faultsInRow > 0) return true;
  const isCurrent = at.getTime() - circuit.windowStartedAt.getTime() < settings.windowMs;
  return isCurrent && isShare(circuit, settings, settings.faultShare / 2);
}

/**
 * Returns the circuit after an attempt. A closed circuit counts the attempt, and opens on too many faults. An open circuit
 * considers only the probe, since attempts made before it opened may end late. A probe that fails opens the circuit again
 * for longer; one that reached the provider closes it; after one with an unknown result, the next attempt is the probe.
 */
export function afterAttempt(circuit: Circuit, event: AttemptEvent, settings: CircuitSettings): Circuit {
  if (!circuit.openUntil) return event.kind === "unknown" ? circuit : counted(circuit, event, settings);
  if (!circuit.probe || circuit.probe.id !== event.probeId) return circuit;
  if (event.kind === "fault") return opened({ ...circuit, faultsInRow: circuit.faultsInRow + 1 }, event.at, settings);
  if (event.kind === "unknown") return { ...circuit, probe: undefined };
  return { ...closedCircuit, windowStartedAt: event.at };
}

function counted(circuit: Circuit, { kind, at }: AttemptEvent, settings: CircuitSettings): Circuit {
  const isOver = at.getTime() - circuit.windowStartedAt.getTime() >= settings.windowMs;
  const window = isOver ? { ...closedCircuit, windowStartedAt: at } : circuit;
  const fault = kind === "fault" ? 1 : 0;
  const next: Circuit = {
    ...circuit,
    faultsInRow: kind === "reached" ? circuit.faultsInRow : fault * (circuit.faultsInRow + 1),
    windowStartedAt: window.windowStartedAt,
    windowAttempts: window.windowAttempts + 1,
    windowFaults: window.windowFaults + fault,
  };
  const isTooMuch = next.faultsInRow >= settings.faultsInRow || isShare(next, settings, settings.faultShare);
  return fault === 1 && isTooMuch ? opened(next, at, settings) : next;
}

function opened(circuit: Circuit, at: Date, settings: CircuitSettings): Circuit {
  const lastsMs = Math.min(settings.openMs * 2 ** circuit.openings, settings.openMaxMs);
  return {
    ...circuit,
    openings: circuit.openings + 1,
    openUntil: new Date(at.getTime() + lastsMs),
    probe: undefined,
  };
}

function isShare(circuit: Circuit, { windowMinimum }: CircuitSettings, share: number): boolean {
  return circuit.windowAttempts >= windowMinimum && circuit.windowFaults >= share * circuit.windowAttempts;
}
