import { checkNames, toCheckType } from "@vvs/checks";
import {
  containsTin,
  formOf,
  type IdentifierMap,
  type IdentifierType,
  identifierTypes,
  isWellFormed,
  normalizeIdentifier,
} from "@vvs/identifiers";
import { textProblem } from "@vvs/identifiers/text";
import type { CheckType } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";

/** The input of the form that runs a verification. */
export interface TypedVerification {
  readonly uei: string;
  readonly cage: string;
  readonly duns: string;
  readonly tin: string;
  readonly legal_name: string;
  readonly checks: readonly string[];
  readonly mode: string;
}

/** The part of the input that may be shown again. */
export type EchoedVerification = Omit<TypedVerification, "tin">;

/** Fields that can have a problem; `identifiers` stands for all four together. */
export type VerificationField = IdentifierType | "identifiers" | "legal_name" | "checks" | "mode";

export type VerificationProblems = { readonly [F in VerificationField]?: string };

/** The request for the verification service. */
export interface WantedVerification {
  readonly identifiers: IdentifierMap;
  /** Empty if not given. */
  readonly legalName: string;
  readonly checks: readonly CheckType[];
  readonly mode: Mode;
}

export const identifierLabels: Readonly<Record<IdentifierType, string>> = {
  uei: "UEI",
  cage: "CAGE code",
  duns: "D-U-N-S number",
  tin: "TIN",
};

export const modes = { realtime: Mode.REALTIME, cached: Mode.CACHED } as const;

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

/** Checks the input by the rules of the API. Returns the request, or all problems; no problem repeats a value. */
export function readVerification(
  typed: TypedVerification,
): { readonly wanted: WantedVerification } | { readonly problems: VerificationProblems } {
  const problems: { [F in VerificationField]?: string } = {};
  const identifiers: { [T in IdentifierType]?: string } = {};
  for (const type of identifierTypes) {
    const value = normalizeIdentifier(typed[type]);
    if (value === "") continue;
    identifiers[type] = value;
    if (!isWellFormed(type, value)) problems[type] = `The ${identifierLabels[type]} must be ${formOf(type)}.`;
  }
  if (Object.keys(identifiers).length === 0) problems.identifiers = "Enter at least one identifier.";
  const legalName = typed.legal_name.trim();
  const nameProblem = problemOfName(legalName);
  if (nameProblem) problems.legal_name = nameProblem;
  const checks = checkNames.filter((name) => typed.checks.includes(name)).map(toCheckType);
  if (checks.length === 0) problems.checks = "Choose at least one check.";
  const mode = Object.hasOwn(modes, typed.mode) ? modes[typed.mode as ModeName] : undefined;
  if (mode === undefined) problems.mode = "Choose a mode.";
  if (Object.keys(problems).length > 0 || mode === undefined) return { problems };
  return { wanted: { identifiers, legalName, checks, mode } };
}

function problemOfName(name: string): string | undefined {
  if ([...name].length > MAX_NAME_CHARACTERS)
    return `The legal name must be at most ${MAX_NAME_CHARACTERS} characters.`;
  const problem = name === "" ? undefined : textProblem(name);
  if (problem) return `The legal name ${problem}.`;
  if (containsTin(name)) return "The legal name must not contain a TIN. Enter the TIN in its own field.";
  return undefined;
}

/**
 * Returns the part of a refused form that may be shown again: never the TIN, in whatever field it was entered. A D-U-N-S
 * number looks like a TIN, so it is left out only if it equals the entered TIN.
 */
export function echoOf(typed: TypedVerification): EchoedVerification {
  const tin = digitsOf(typed.tin);
  const holdsTin = (text: string) => tin !== "" && digitsOf(text).includes(tin);
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

const digitsOf = (text: string) => text.replaceAll(/\D/g, "");
