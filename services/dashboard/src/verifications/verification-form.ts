import { checkNames, toCheckType } from "@vvs/checks";
import { containsTin, type IdentifierType, identifierTypes, normalizeIdentifier } from "@vvs/identifiers";
import { identifierProblem, isSandboxUei, SANDBOX_UEI_PROBLEM } from "@vvs/identifiers/problems";
import { textProblem } from "@vvs/identifiers/text";
import { repairControls } from "@vvs/identifiers/written-name";
import { Mode } from "@vvs/proto/verification/v1/verification";
import type { Environment } from "@vvs/tenant";

/** The input of the form that runs a verification. */
export interface VerificationInput {
  readonly uei: string;
  readonly cage: string;
  readonly duns: string;
  readonly tin: string;
  readonly legal_name: string;
  readonly checks: readonly string[];
  readonly mode: string;
}

/** The part of the input that may be shown again. */
export type EchoedVerification = Omit<VerificationInput, "tin">;

export const identifierLabels: Readonly<Record<IdentifierType, string>> = {
  uei: "UEI",
  cage: "CAGE code",
  duns: "D-U-N-S number",
  tin: "TIN",
};

const modes = { realtime: Mode.REALTIME, cached: Mode.CACHED } as const;

export type ModeName = keyof typeof modes;

/** The initial input of the form. */
export const emptyVerification: EchoedVerification = {
  uei: "",
  cage: "",
  duns: "",
  legal_name: "",
  checks: ["sam_registration"],
  mode: "realtime",
};

const MAX_NAME_CHARACTERS = 300;

/** What is typed of a vendor to verify it. */
type TypedVendor = Pick<VerificationInput, "checks" | "legal_name"> & { readonly [T in IdentifierType]?: string };

/** Checks what is typed of a vendor by the rules of the API. No problem repeats a value. */
export function readTypedVendor(typed: TypedVendor, environment: Environment) {
  const problems: { -readonly [F in keyof TypedVendor]?: string } = {};
  const identifiers: { [T in IdentifierType]?: string } = {};
  for (const type of identifierTypes) {
    const value = normalizeIdentifier(typed[type] ?? "");
    if (value === "") continue;
    identifiers[type] = value;
    const problem = problemOfIdentifier(type, value, environment);
    if (problem) problems[type] = problem;
  }
  const legalName = typedText(typed.legal_name);
  const nameProblem = problemOfText("legal name", legalName, MAX_NAME_CHARACTERS);
  if (nameProblem) problems.legal_name = nameProblem;
  const checks = checkNames.filter((name) => typed.checks.includes(name));
  if (checks.length === 0) problems.checks = "Choose at least one check.";
  return { identifiers, legalName, checks, problems };
}

/** Checks the input. Returns the request, or all problems by field. */
export function readVerification(typed: VerificationInput, environment: Environment) {
  const { checks, problems: found, ...vendor } = readTypedVendor(typed, environment);
  // `identifiers` is the field of problems that concern all four.
  const problems: typeof found & { mode?: string; identifiers?: string } = found;
  if (Object.keys(vendor.identifiers).length === 0) problems.identifiers = "Enter at least one identifier.";
  const mode = Object.hasOwn(modes, typed.mode) ? modes[typed.mode as ModeName] : undefined;
  if (mode === undefined) problems.mode = "Choose a mode.";
  if (Object.keys(problems).length > 0 || mode === undefined) return { problems };
  return { request: { ...vendor, checks: checks.map(toCheckType), mode } };
}

/** Returns the chosen checks, with the TIN match where a TIN was typed: it is not to be kept without being checked. */
export function withTypedTin(checks: readonly string[], tin: string): readonly string[] {
  return tin.trim() === "" || checks.includes("tin_match") ? checks : [...checks, "tin_match"];
}

/** Returns the problem of a normalized identifier to verify; it never repeats the value. */
function problemOfIdentifier(type: IdentifierType, value: string, environment: Environment): string | undefined {
  const isOutOfPlace = environment === "live" && type === "uei" && isSandboxUei(value);
  const problem = identifierProblem(type, value) ?? (isOutOfPlace ? SANDBOX_UEI_PROBLEM : undefined);
  return problem && `The ${identifierLabels[type]} ${problem}.`;
}

/** Returns a name or an address as the API would read it. */
export function typedText(text: string): string {
  return repairControls(text).trim();
}

/** Returns the problem of a text that is sent to a service; it never repeats the text. */
export function problemOfText(label: string, text: string, maxCharacters: number): string | undefined {
  if ([...text].length > maxCharacters) return `The ${label} must be at most ${maxCharacters} characters.`;
  const problem = text === "" ? undefined : textProblem(text);
  if (problem) return `The ${label} ${problem}.`;
  return containsTin(text) ? `The ${label} must not contain a TIN. Enter the TIN in its own field.` : undefined;
}

/**
 * Returns the fields that a refused form shows again, without the TIN, whichever field it was typed into. A D-U-N-S number looks
 * like a TIN, so it is removed only if it equals the typed TIN.
 */
export function withoutTin<T extends { readonly tin: string }>({ tin, ...typed }: T): Omit<T, "tin"> {
  const digits = digitsOf(tin);
  const holdsTin = (name: string, text: string) => {
    if (digits !== "" && digitsOf(text).includes(digits)) return true;
    if (name === "duns") return false;
    const isIdentifier = name === "uei" || name === "cage";
    return containsTin(text) || (isIdentifier && /\d{9}/.test(normalizeIdentifier(text)));
  };
  const shown = Object.entries(typed).map(([name, value]) => [
    name,
    typeof value === "string" && holdsTin(name, value) ? "" : value,
  ]);
  return Object.fromEntries(shown);
}

const digitsOf = (text: string) => text.replaceAll(/\D/g, "");
