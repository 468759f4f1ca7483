import { createHash } from "node:crypto";

/** What can be checked, as the public API names it. */
export type Check = "sam_registration" | "tin_match";

export const checks: readonly Check[] = ["sam_registration", "tin_match"];

/** What a check came to; `error` says nothing about the vendor. */
export type CheckStatus = "pass" | "fail" | "error";

/** Where answers may come from. */
export type Mode = "cached" | "realtime";

/** What providers are asked with. Absent values are empty. */
export interface CheckSubject {
  readonly entityId: string;
  /** Empty while the entity has only a placeholder. */
  readonly legalName: string;
  readonly uei: string;
  readonly cage: string;
  /** Keyed hash that stands for the TIN. */
  readonly tinHash: Uint8Array;
  /** The organization created it itself and no registry has it. */
  readonly createdByOrganization: boolean;
}

/** The reason why a check can't be asked at all, or undefined when it can. */
export function missingInput(check: Check, subject: CheckSubject): string | undefined {
  if (check === "sam_registration") return subject.uei || subject.cage ? undefined : "missing_uei";
  if (subject.tinHash.length === 0) return "missing_tin";
  return subject.legalName ? undefined : "missing_name";
}

/**
 * Names what a check asks with, as lower-case hex: SHA-256 over JSON of the check and its inputs, the TIN by its keyed
 * hash. Stored answers and monitors' baselines belong to it. A UEI names a registration by itself: its CAGE is a fact of
 * the registry, that may change or become known, and a monitor must tell of it.
 */
export function inputsFingerprint(check: Check, subject: CheckSubject): string {
  const inputs =
    check === "sam_registration"
      ? [subject.uei, subject.uei === "" ? subject.cage : ""]
      : [Buffer.from(subject.tinHash).toString("hex"), subject.legalName];
  return createHash("sha256")
    .update(JSON.stringify([check, ...inputs]))
    .digest("hex");
}
