/** What a monitor can watch. */
export type Check = "sam_registration" | "tin_match";

/** The fields of each check whose changes are told, in the order in which they are told. Never confidence, origin or freshness. */
export const watchedFields = {
  sam_registration: ["status", "registration_status", "expiration_date", "legal_name", "cage", "entity_type"],
  tin_match: ["status", "reason"],
} as const satisfies Record<Check, readonly string[]>;

/** What one check of a run came to. */
export interface Outcome {
  readonly check: Check;
  readonly status: "pass" | "fail" | "error";
  /** Such as not_found; empty on a plain pass. */
  readonly reason: string;
  /** Hash of the inputs asked with. */
  readonly inputsFingerprint: Uint8Array;
  /** What the provider told, by name. Told as "": there is no value. Absent: it told nothing of it. */
  readonly facts: Readonly<Record<string, string>>;
}

/** What a check of a monitor was last known to be. A field that nobody has told of yet is absent; null is "no value". */
export interface Baseline {
  readonly runSeq: number;
  readonly inputsFingerprint: Uint8Array;
  readonly fields: Readonly<Record<string, string | null>>;
}

/** A watched field that differs from the baseline. */
export interface FieldChange {
  /** <check>.<name>, such as sam_registration.registration_status. */
  readonly field: string;
  readonly previous: string | null;
  readonly current: string | null;
}

export interface Detection {
  /** What to keep; undefined where the baseline stays as it is. */
  readonly baseline: Baseline | undefined;
  readonly changes: readonly FieldChange[];
}

const NOTHING: Detection = { baseline: undefined, changes: [] };

/**
 * Compares what one check of a run came to with the monitor's baseline of that check.
 * Silent: an error, the first answer, the first answer to other inputs, a run that is not newer than the baseline's.
 */
export function detect(baseline: Baseline | undefined, runSeq: number, outcome: Outcome): Detection {
  if (outcome.status === "error") return NOTHING;
  if (baseline && runSeq <= baseline.runSeq) return NOTHING;
  const told = toldFields(outcome);
  const { inputsFingerprint } = outcome;
  if (!baseline || !sameBytes(baseline.inputsFingerprint, inputsFingerprint)) {
    return { baseline: { runSeq, inputsFingerprint, fields: told }, changes: [] };
  }
  const fields = { ...baseline.fields, ...told };
  return {
    baseline: { runSeq, inputsFingerprint, fields },
    changes: watchedFields[outcome.check].flatMap((name): FieldChange[] => {
      const previous = baseline.fields[name];
      const current = fields[name];
      // Nobody told of it before: this is its first answer, and a first answer is silent.
      if (previous === undefined || current === undefined || previous === current) return [];
      return [{ field: `${outcome.check}.${name}`, previous, current }];
    }),
  };
}

/**
 * The watched fields that this outcome says something of. A fact that a provider did not tell is left out, so that a
 * run answered by a provider that knows less tells of no change; but where a source that can know found no record,
 * there are no such facts, and each is null.
 */
function toldFields(outcome: Outcome): Record<string, string | null> {
  const noRecord = outcome.check === "sam_registration" && outcome.reason === "not_found";
  const known: Readonly<Record<string, string>> = { ...outcome.facts, status: outcome.status, reason: outcome.reason };
  const told: Record<string, string | null> = {};
  for (const name of watchedFields[outcome.check]) {
    const value = known[name];
    if (value !== undefined) told[name] = value === "" ? null : value;
    else if (noRecord) told[name] = null;
  }
  return told;
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.from(left).equals(right);
}
