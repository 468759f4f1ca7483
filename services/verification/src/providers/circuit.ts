/** When a circuit opens, and for how long. */
export interface CircuitSettings {
  /** So many faults in a row open it. */
  readonly faultsInRow: number;
  /** So large a share of faults (0–1) opens it, once a window holds `windowMinimum` attempts. */
  readonly faultShare: number;
  readonly windowMinimum: number;
  /** How long attempts are gathered for the share, in milliseconds. */
  readonly windowMs: number;
  /** How long the first opening lasts; each one after a failed probe lasts twice as long as the one before. */
  readonly openMs: number;
  /** The longest opening. */
  readonly openMaxMs: number;
  /** How long a probe keeps others from probing; longer than any attempt takes, for a prober that died. */
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

/** What is remembered of one provider's attempts. */
export interface Circuit {
  /** Since the last answer. */
  readonly faultsInRow: number;
  readonly windowStartedAt: Date;
  readonly windowAttempts: number;
  readonly windowFaults: number;
  /** Openings since it was last closed; 0 while it is closed. */
  readonly openings: number;
  /** While it is open: when a probe is due. */
  readonly openUntil?: Date;
  /** The probe under way, and when it is given up. */
  readonly probe?: { readonly id: string; readonly until: Date };
}

/**
 * What an attempt came to: an answer; `reached` where the provider is well though it could not answer (too old a file, a
 * quota used up); a fault; or `unknown` where it tells nothing of the provider.
 */
export interface AttemptEvent {
  readonly kind: "answered" | "reached" | "fault" | "unknown";
  readonly at: Date;
  /** Of the attempt that was the probe. */
  readonly probeId?: string;
}

/** `due`: the next attempt may be the probe. */
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

/** Faults lately, but not enough to open. */
export function isUnsteady(circuit: Circuit, settings: CircuitSettings, at: Date): boolean {
  if (circuit.faultsInRow > 0) return true;
  const isCurrent = at.getTime() - circuit.windowStartedAt.getTime() < settings.windowMs;
  return isCurrent && isShare(circuit, settings, settings.faultShare / 2);
}

/**
 * The circuit after an attempt. Closed, it counts, and opens on too many faults. Open, it heeds nothing but the probe:
 * what comes back late from attempts made before it opened says nothing new. A probe that fails opens it again for
 * longer, one that reached the provider closes it, and one that learned nothing leaves the probe to the next.
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
