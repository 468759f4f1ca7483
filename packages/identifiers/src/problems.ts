import { formOf, type IdentifierType, isWellFormed } from "./index.ts";
import { isNoIdentifier } from "./none.ts";

/** Nine equal digits, or all digits in order. */
const PLACEHOLDER_TIN = /^(?:(\d)\1{8}|123456789|987654321)$/;

/** What may have happened to an identifier that lacks one or two digits. */
const LOST_ZEROS: Readonly<Partial<Record<IdentifierType, RegExp>>> = {
  cage: /^\d{4}$/,
  duns: /^\d{7,8}$/,
  tin: /^\d{7,8}$/,
};

/**
 * Returns the problem of a normalized identifier that is to be stored or checked, as the end of a sentence that begins
 * with the field's name; undefined if there is none. Never repeats the value, which may be a TIN.
 */
export function identifierProblem(type: IdentifierType, normalized: string): string | undefined {
  if (isNoIdentifier(normalized)) return `must be ${formOf(type)}: leave it out if there is none`;
  if (!isWellFormed(type, normalized)) {
    return [`must be ${formOf(type)}`, lostZerosHint(type, normalized)].filter(Boolean).join(": ");
  }
  if (type === "tin" && isPlaceholderTin(normalized)) return "must be a real TIN: this one is a placeholder";
  return undefined;
}

/** Returns a hint for an identifier that a spreadsheet may have shortened, or undefined. */
export function lostZerosHint(type: IdentifierType, normalized: string): string | undefined {
  return LOST_ZEROS[type]?.test(normalized) ? "a spreadsheet may have dropped leading zeros" : undefined;
}

/** Returns whether a normalized TIN is one that people type where they don't know it. */
export function isPlaceholderTin(tin: string): boolean {
  return PLACEHOLDER_TIN.test(tin);
}

/** Returns whether a normalized UEI can only exist in the sandbox. */
export function isSandboxUei(uei: string): boolean {
  return uei.startsWith("SANDBX");
}

/** The problem of a sandbox UEI where live vendors are meant, in the form of `identifierProblem`. */
export const SANDBOX_UEI_PROBLEM =
  "must not begin with SANDBX, which only the sandbox has: use a test key (svc_test_…)";
