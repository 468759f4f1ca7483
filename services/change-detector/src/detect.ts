import { type Check, type CheckStatus, checkDefinitions } from "@vvs/checks";
import type { FieldChange } from "@vvs/kafka";
import { factsOf, isTrusted, newestParts, type Parts, registryDay, verdictOf } from "@vvs/registration";

/** Result of one check in a run. */
export interface Outcome {
  readonly check: Check;
  readonly status: CheckStatus;
  /** For example `not_found`; empty for a plain pass. */
  readonly reason: string;
  /** Hash of the inputs that the check was made with. */
  readonly inputsFingerprint: Uint8Array;
  /** Keyed hash of the TIN that a tin_match asked about; absent or empty where it is unknown. */
  readonly tinFingerprint?: Uint8Array;
  /** Facts that the provider returned, by name. "" means that there is no value; absent means that the provider said nothing. */
  readonly facts: Readonly<Record<string, string>>;
  /** The parts that a live sam_registration is based on. Absent for all other results, which are ordered only by run. */
  readonly parts?: Parts;
  /** Ids of withdrawn file loads. */
  readonly withdrawnLoads: readonly string[];
}

/** Last known values of one check of a monitor. */
export interface Baseline {
  readonly runSeq: number;
  readonly inputsFingerprint: Uint8Array;
  /** Keyed hash of the last known TIN; absent where none is known. */
  readonly tinFingerprint?: Uint8Array;
  /** Values by field. Null means "no value"; absent means that no provider has reported the field yet. */
  readonly fields: Readonly<Record<string, string | null>>;
  /** The newest known parts. */
  readonly parts?: Parts;
}

/** Result of a comparison. */
export interface Detection {
  /** The new baseline; undefined if the old one stays. */
  readonly baseline: Baseline | undefined;
  /** The fields that differ from the baseline. Both values are equal where only masked digits of a TIN differ. */
  readonly changes: readonly FieldChange[];
}

const NOTHING: Detection = { baseline: undefined, changes: [] };

/**
 * Compares the result of one check in a run with the monitor's baseline for that check. These report no change: an
 * error, the first answer, a run that is not newer than the baseline, a part that is older than the same part of the
 * baseline, and the first value of a field. An answer to another question (another UEI, TIN or name) is compared like any
 * other: what changed includes what was asked, where that is watched.
 */
export function detect(baseline: Baseline | undefined, run: { seq: number; at: Date }, outcome: Outcome): Detection {
  if (outcome.status === "error") return NOTHING;
  if (baseline && run.seq <= baseline.runSeq) return NOTHING;
  const { inputsFingerprint } = outcome;
  const isSameQuestion = baseline && Buffer.from(baseline.inputsFingerprint).equals(inputsFingerprint);
  // Parts of the answer to another question say nothing about this one.
  const { parts, reported } = mergeParts(isSameQuestion ? baseline.parts : undefined, run.at, outcome);
  const tinFingerprint = outcome.tinFingerprint?.length ? outcome.tinFingerprint : baseline?.tinFingerprint;
  const isOtherTin = baseline?.tinFingerprint && !Buffer.from(baseline.tinFingerprint).equals(tinFingerprint!);
  const known = baseline?.fields ?? {};
  const fields = { ...known, ...reported };
  return {
    baseline: {
      ...{ runSeq: run.seq, inputsFingerprint, fields },
      ...(tinFingerprint && { tinFingerprint }),
      ...(parts && { parts }),
    },
    changes: checkDefinitions[outcome.check].watchedFields.flatMap((name): FieldChange[] => {
      const previous = known[name];
      const current = fields[name];
      // A field without an earlier answer has nothing to compare with, so no change is reported.
      if (previous === undefined || current === undefined) return [];
      // Two TINs may end in the same digits: then both masked values are equal.
      if (previous === current && !(name === "tin" && isOtherTin)) return [];
      return [{ field: `${outcome.check}.${name}`, previous, current }];
    }),
  };
}

/**
 * Returns the newest parts of the baseline and the outcome, and the fields that follow from them. If all parts come
 * from the outcome, its own fields are used. Otherwise the parts are judged together; if they allow no verdict, no
 * field changes.
 */
function mergeParts(known: Parts | undefined, at: Date, outcome: Outcome) {
  if (!outcome.parts) return { parts: known, reported: reportedFields(outcome) };
  const parts = newestParts(trusted(known ?? {}, at, outcome.withdrawnLoads), outcome.parts);
  const isOwn = parts.registration === outcome.parts.registration && parts.exclusions === outcome.parts.exclusions;
  if (isOwn) return { parts, reported: reportedFields(outcome) };
  const today = registryDay(at);
  const verdict = verdictOf(parts, today);
  if (!verdict) return { parts, reported: {} };
  const { outcome: status, reason } = verdict;
  const facts = { ...factsOf(parts, verdict, today) };
  return { parts, reported: reportedFields({ ...outcome, status, reason, facts }) };
}

function trusted({ registration, exclusions }: Parts, now: Date, withdrawnLoads: readonly string[]): Parts {
  return {
    ...(registration && isTrusted(registration, { now, withdrawnLoads }) && { registration }),
    ...(exclusions && isTrusted(exclusions, { now, withdrawnLoads }) && { exclusions }),
  };
}

/**
 * Returns the watched fields that an outcome has a value for. Facts that the provider did not report are left out, so
 * that an answer from a provider with less data causes no change. The exception is `not_found` from a source with all
 * registrations: then there are no such facts, and each of them is null.
 */
function reportedFields(outcome: Outcome): Record<string, string | null> {
  const noRecord = outcome.check === "sam_registration" && outcome.reason === "not_found";
  const known: Readonly<Record<string, string>> = { ...outcome.facts, status: outcome.status, reason: outcome.reason };
  const reported: Record<string, string | null> = {};
  for (const name of checkDefinitions[outcome.check].watchedFields) {
    const value = known[name];
    if (value !== undefined) reported[name] = value === "" ? null : value;
    else if (noRecord) reported[name] = null;
  }
  return reported;
}
