import { type Check, checkNames, toCheckType } from "@vvs/checks";
import { type IdentifierType, normalizeIdentifier } from "@vvs/identifiers";
import type { CheckType } from "@vvs/proto/common/v1/common";
import type { Entity } from "@vvs/proto/entity/v1/entity";
import type { Environment } from "@vvs/tenant";
import { holdsDigitsOf, problemOfIdentifier, problemOfText, typedText } from "../verifications/verification-form.ts";
import type { MadeCheck } from "./checked.ts";

/** What checks need of a vendor, as far as it is known; "" where it is not. The TIN is masked. */
export interface KnownInputs {
  readonly uei: string;
  readonly cage: string;
  readonly tin: string;
  readonly legalName: string;
}

/** The fields for what checks need and nobody knows yet. */
export type MissingField = "uei" | "cage" | "tin" | "legal_name";

/** The input of the form that verifies or monitors one vendor. */
export interface VendorInput extends Readonly<Record<MissingField, string>> {
  readonly checks: readonly string[];
  readonly frequency: string;
  readonly webhook_url: string;
}

/** The part of the input that may be shown again: never the TIN. */
export type EchoedVendorInput = Omit<VendorInput, "tin">;

/** What to verify, and what the form added to what is known of the vendor. */
export interface VendorRequest {
  readonly checks: CheckType[];
  readonly identifiers: { readonly [T in IdentifierType]?: string };
  readonly legalName: string;
}

const MAX_NAME_CHARACTERS = 300;
/** How a vendor without a name of its own is called. */
const PLACEHOLDER = /^Unknown entity \(/;

/** Returns what is known of a vendor for its checks. */
export function knownInputs({ identifiers, legalName }: Pick<Entity, "identifiers" | "legalName">): KnownInputs {
  const { uei = "", cage = "", tin = "" } = identifiers;
  return { uei, cage, tin, legalName: PLACEHOLDER.test(legalName) ? "" : legalName };
}

/** Returns the fields for what is not known of a vendor and some check needs. A UEI or a CAGE code is enough. */
export function missingFields({ uei, cage, tin, legalName }: KnownInputs): MissingField[] {
  const isRegistrationKnown = uei !== "" || cage !== "";
  return [
    ...(isRegistrationKnown ? [] : (["uei", "cage"] as const)),
    ...(tin === "" ? (["tin"] as const) : []),
    ...(legalName === "" ? (["legal_name"] as const) : []),
  ];
}

/** Returns the checks to choose at first: those made before, or else all for which everything is known. */
export function suggestedChecks(
  known: KnownInputs,
  made: readonly Pick<MadeCheck, "check" | "newest">[],
  mayMatchTins: boolean,
): Check[] {
  const before = made.filter(({ newest }) => newest).map(({ check }) => check);
  if (before.length > 0) return before;
  const possible: Readonly<Record<Check, boolean>> = {
    sam_registration: known.uei !== "" || known.cage !== "",
    tin_match: known.tin !== "" && known.legalName !== "" && mayMatchTins,
  };
  const asked = checkNames.filter((check) => possible[check]);
  return asked.length > 0 ? asked : ["sam_registration"];
}

/** Checks the input by the rules of the API, and that each chosen check has what it needs. No problem repeats a value. */
export function readVendorForm(
  typed: Pick<VendorInput, MissingField | "checks">,
  known: KnownInputs,
  environment: Environment,
): { request: VendorRequest; problems?: undefined } | { problems: { [F in MissingField | "checks"]?: string } } {
  const problems: { [F in MissingField | "checks"]?: string } = {};
  const identifiers: { [T in IdentifierType]?: string } = {};
  for (const type of ["uei", "cage", "tin"] as const) {
    const value = normalizeIdentifier(typed[type]);
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
  const lacks = (value: string, field: MissingField, problem: string) => {
    if (value === "") problems[field] ??= problem;
  };
  if (checks.includes("sam_registration")) {
    const uei = known.uei || known.cage || identifiers.uei || identifiers.cage || "";
    lacks(uei, "uei", "SAM.gov is asked by UEI or CAGE code. Enter one of them, or do not choose this check.");
  }
  if (checks.includes("tin_match")) {
    lacks(
      known.tin || identifiers.tin || "",
      "tin",
      "A TIN match needs the TIN. Enter it, or do not choose this check.",
    );
    lacks(known.legalName || legalName, "legal_name", "A TIN match needs the legal name. Enter it.");
  }
  if (Object.keys(problems).length > 0) return { problems };
  return { request: { checks: checks.map(toCheckType), identifiers, legalName } };
}

/** Returns the part of a refused form that may be shown again: never the TIN, in whatever field it was entered. */
export function echoOfVendor({ tin, ...typed }: VendorInput): EchoedVendorInput {
  const holdsTin = holdsDigitsOf(tin);
  const shown = (text: string) => (holdsTin(text) || problemOfText("text", text, Infinity) ? "" : text);
  return {
    ...typed,
    uei: identifierEcho(typed.uei, holdsTin),
    cage: identifierEcho(typed.cage, holdsTin),
    legal_name: shown(typed.legal_name),
  };
}

function identifierEcho(text: string, holdsTin: (text: string) => boolean): string {
  return holdsTin(text) || /\d{9}/.test(normalizeIdentifier(text)) ? "" : text;
}
