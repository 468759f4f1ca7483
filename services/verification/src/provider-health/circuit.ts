/** When a circuit opens, and for how long. */
export interface CircuitSettings {
  /** Number of faults in a row that opens the circuit; faults of one input never do. */
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
  // A probe is given up later than its check ends.
  probeLeaseMs: 30_000,
};

/** Minimum number of faults that count: more than those of one input. */
const TWO_INPUTS = 2;

/** The faults of one input that no fault of another input has been paired with. */
interface UnpairedFaults {
  readonly input: string;
  /** At least 1. */
  readonly count: number;
}

/** The state of one provider's circuit, as it is stored. Faults of one input count for at most one more than all others. */
export interface Circuit {
  /** Faults since the last answer that count. */
  readonly faults_in_row: number;
  readonly row_unpaired?: UnpairedFaults | undefined;
  readonly window_started_at: Date;
  /** Attempts in the window, without faults that do not count. */
  readonly window_attempts: number;
  /** Faults in the window that count. */
  readonly window_faults: number;
  readonly window_unpaired?: UnpairedFaults | undefined;
  /** Number of openings since the circuit was last closed; 0 while it is closed. */
  readonly openings: number;
  /** When a probe is due; absent while the circuit is closed. */
  readonly open_until?: Date;
  /** The probe in flight, and when it is given up. */
  readonly probe?: { readonly id: string; readonly until: Date } | undefined;
  /** The input of a probe that failed since the circuit opened, and until when it gets no other probe. */
  readonly failed_probe?: { readonly input: string; readonly until: Date } | undefined;
}

/** The result of an attempt. */
export interface AttemptResult {
  /**
   * `answered`; `reached` where the provider is healthy but could not answer (data too old, quota used up); `input_fault`
   * where it answered that it can't answer about this input; `fault`; or `unknown` where the attempt says nothing about the
   * provider.
   */
  readonly kind: "answered" | "reached" | "input_fault" | "fault" | "unknown";
  readonly at: Date;
  /** Identifies what was asked about. Absent for an attempt about several vendors: its fault may be that of any of them, and counts as `unknown`. */
  readonly input?: string | undefined;
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

/** Returns the phase of a circuit, for an attempt about this input where one is given. */
export function phaseOf({ open_until, probe, failed_probe }: Circuit, at: Date, input?: string): CircuitPhase {
  if (!open_until) return "closed";
  if (open_until > at) return "open";
  if (probe && probe.until > at) return "probing";
  return failed_probe && failed_probe.input === input && failed_probe.until > at ? "open" : "due";
}

/** Returns true after recent faults that were too few to open the circuit. */
export function isUnsteady(circuit: Circuit, settings: CircuitSettings, at: Date): boolean {
  if (circuit.faults_in_row > 0) return true;
  return !isWindowOver(circuit, settings, at) && isShare(circuit, settings, settings.faultShare / 2);
}

/**
 * Returns the circuit after an attempt. A closed circuit counts the attempt, and opens on too many faults of two or more
 * inputs. An open circuit considers only the probe, since attempts made before it opened may end late. One that reached
 * the provider closes it. After one that failed, another input may be the next probe, and opens the circuit again for
 * longer if it fails too. After one with an unknown result, the next attempt is the probe.
 */
export function afterAttempt(circuit: Circuit, result: AttemptResult, settings: CircuitSettings): Circuit {
  const { at, input } = result;
  const kind = result.kind === "fault" && input === undefined ? "unknown" : result.kind;
  if (!circuit.open_until) {
    if (kind === "unknown" || kind === "input_fault") return circuit;
    return kind === "fault"
      ? afterFault(circuit, { at, input: input! }, settings)
      : afterReaching(circuit, kind, at, settings);
  }
  if (!circuit.probe || circuit.probe.id !== result.probeId) return circuit;
  if (kind === "unknown") return { ...circuit, probe: undefined };
  if (kind !== "fault") return { ...closedCircuit, window_started_at: at };
  return afterFailedProbe(circuit, { at, input: input! }, settings);
}

function afterReaching(circuit: Circuit, kind: "answered" | "reached", at: Date, settings: CircuitSettings): Circuit {
  const current = inWindow(circuit, settings, at);
  const next = { ...current, window_attempts: current.window_attempts + 1 };
  return kind === "answered" ? { ...next, faults_in_row: 0, row_unpaired: undefined } : next;
}

interface Fault {
  readonly at: Date;
  readonly input: string;
}

function afterFault(circuit: Circuit, { at, input }: Fault, settings: CircuitSettings): Circuit {
  const current = inWindow(circuit, settings, at);
  const inRow = addFault(current.row_unpaired, input);
  const inItsWindow = addFault(current.window_unpaired, input);
  const next: Circuit = {
    ...current,
    faults_in_row: current.faults_in_row + inRow.counted,
    row_unpaired: inRow.unpaired,
    window_attempts: current.window_attempts + inItsWindow.counted,
    window_faults: current.window_faults + inItsWindow.counted,
    window_unpaired: inItsWindow.unpaired,
  };
  const isRow = next.faults_in_row >= Math.max(settings.faultsInRow, TWO_INPUTS);
  const isTooMuch = isRow || (next.window_faults >= TWO_INPUTS && isShare(next, settings, settings.faultShare));
  return isTooMuch ? opened(next, at, settings) : next;
}

/**
 * Adds a fault of an input. One input can fail any number of times although the provider is healthy, so the faults of one
 * input count for at most one more than those of all others: the first unpaired fault counts, and each further one only
 * once another input fails too. Returns how many faults count that did not count before, and the unpaired ones.
 */
function addFault(
  unpaired: UnpairedFaults | undefined,
  input: string,
): { counted: 0 | 1 | 2; unpaired: UnpairedFaults | undefined } {
  if (!unpaired) return { counted: 1, unpaired: { input, count: 1 } };
  if (unpaired.input === input) return { counted: 0, unpaired: { input, count: unpaired.count + 1 } };
  if (unpaired.count === 1) return { counted: 1, unpaired: undefined };
  return { counted: 2, unpaired: { ...unpaired, count: unpaired.count - 1 } };
}

function afterFailedProbe(circuit: Circuit, { at, input }: Fault, settings: CircuitSettings): Circuit {
  const { failed_probe } = circuit;
  if (failed_probe && failed_probe.input !== input) {
    return opened({ ...circuit, faults_in_row: circuit.faults_in_row + 1 }, at, settings);
  }
  return { ...circuit, probe: undefined, failed_probe: { input, until: openUntil(circuit, at, settings) } };
}

function opened(circuit: Circuit, at: Date, settings: CircuitSettings): Circuit {
  const open_until = openUntil(circuit, at, settings);
  return { ...circuit, openings: circuit.openings + 1, open_until, probe: undefined, failed_probe: undefined };
}

function openUntil({ openings }: Circuit, at: Date, { openMs, openMaxMs }: CircuitSettings): Date {
  return new Date(at.getTime() + Math.min(openMs * 2 ** openings, openMaxMs));
}

/** Returns the circuit with a new window where the previous one is over. */
function inWindow(circuit: Circuit, settings: CircuitSettings, at: Date): Circuit {
  if (!isWindowOver(circuit, settings, at)) return circuit;
  return { ...circuit, window_started_at: at, window_attempts: 0, window_faults: 0, window_unpaired: undefined };
}

function isWindowOver({ window_started_at }: Circuit, { windowMs }: CircuitSettings, at: Date): boolean {
  return at.getTime() - window_started_at.getTime() >= windowMs;
}

function isShare(circuit: Circuit, { windowMinimum }: CircuitSettings, share: number): boolean {
  return circuit.window_attempts >= windowMinimum && circuit.window_faults >= share * circuit.window_attempts;
}
