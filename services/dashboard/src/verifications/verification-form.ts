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

/** Checks the input by the rules of the API. Returns the request, or all problems by field; no problem repeats a value. */
export function readVerification(typed: VerificationInput, environment: Environment) {
  // `identifiers` is the field of problems that concern all four.
  const problems: { [F in keyof VerificationInput | "identifiers"]?: string } = {};
  const identifiers: { [T in IdentifierType]?: string } = {};
  for (const type of identifierTypes) {
    const value = normalizeIdentifier(typed[type]);
    if (value === "") continue;
    identifiers[type] = value;
    const problem = problemOfIdentifier(type, value, environment);
    if (problem) problems[type] = problem;
  }
  if (Object.keys(identifiers).length === 0) problems.identifiers = "Enter at least one identifier.";
  const legalName = typedText(typed.legal_name);
  const nameProblem = problemOfText("legal name", legalName, MAX_NAME_CHARACTERS);
  if (nameProblem) problems.legal_name = nameProblem;
  const checks = checkNames.filter((name) => typed.checks.includes(name)).map(toCheckType);
  if (checks.length === 0) problems.checks = "Choose at least one check.";
  const mode = Object.hasOwn(modes, typed.mode) ? modes[typed.mode as ModeName] : undefined;
  if (mode === undefined) problems.mode = "Choose a mode.";
  if (Object.keys(problems).length > 0 || mode === undefined) return { problems };
  return { request: { identifiers, legalName, checks, mode } };
}

/** Returns the chosen checks, with the TIN match where a TIN was typed: it is not to be kept without being checked. */
export function withTypedTin(checks: readonly string[], tin: string): readonly string[] {
  return tin.trim() === "" || checks.includes("tin_match") ? checks : [...checks, "tin_match"];
}

/** Returns the problem of a normalized identifier to verify; it never repeats the value. */
export function problemOfIdentifier(type: IdentifierType, value: string, environment: Environment): string | undefined {
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
 * Returns what a refused form shows again: never the TIN, even if it was typed into another field. A D-U-N-S number looks
 * like a TIN, so it is left out only if it equals the entered TIN.
 */
export function echoOf(typed: VerificationInput): EchoedVerification {
  const holdsTin = holdsDigitsOf(typed.tin);
  const looksLikeTin = (text: string) => containsTin(text) || /^\d{9}$/.test(normalizeIdentifier(text));
  const shown = (text: string) => (holdsTin(text) || looksLikeTin(text) ? "" : text);
  return {
    uei: shown(typed.uei),
    cage: shown(typed.cage),
    duns: holdsTin(typed.duns) ? "" : typed.duns,
    legal_name: shown(typed.legal_name),
    checks: typed.checks,
    mode: typed.mode,
  };
}

/** Returns a function that says whether a text has the digits of a TIN; no text has those of an empty one. */
export function holdsDigitsOf(tin: string): (text: string) => boolean {
  const digits = digitsOf(tin);
  return (text) => digits !== "" && digitsOf(text).includes(digits);
}

const digitsOf = (text: string) => text.replaceAll(/\D/g, "");
