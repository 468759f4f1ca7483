import {
  containsTin,
  type IdentifierMap,
  type IdentifierType,
  identifierTypes,
  normalizeIdentifier,
} from "@vvs/identifiers";
import { textProblem } from "@vvs/identifiers/text";

/** The input of the search for entities. */
export interface TypedSearch {
  readonly uei: string;
  readonly cage: string;
  readonly duns: string;
  readonly tin: string;
  readonly legal_name: string;
  readonly address: string;
  /** Whether to find only exact matches; otherwise similar entities too. */
  readonly exact: boolean;
}

/** The part of the input that may be in an address or on a page: never the TIN. */
export type EchoedSearch = Omit<TypedSearch, "tin">;

export type SearchProblems = { readonly [F in "legal_name" | "address"]?: string };

/** The request for the entity service. */
export interface WantedSearch {
  readonly identifiers: IdentifierMap;
  readonly legalName: string;
  readonly address: string;
  readonly fuzzy: boolean;
}

const MAX_CHARACTERS = { legal_name: 300, address: 500 } as const;
const labels = { legal_name: "name", address: "address" } as const;

/** Checks the input. Returns the request, or all problems, or neither for an empty form; no problem repeats a value. */
export function readSearch(typed: TypedSearch): { wanted?: WantedSearch; problems?: SearchProblems } {
  const identifiers: { [T in IdentifierType]?: string } = {};
  for (const type of identifierTypes) {
    const value = normalizeIdentifier(typed[type]);
    if (value !== "") identifiers[type] = value;
  }
  const problems: { [F in "legal_name" | "address"]?: string } = {};
  for (const name of ["legal_name", "address"] as const) {
    const problem = problemOf(name, typed[name].trim());
    if (problem) problems[name] = problem;
  }
  if (Object.keys(problems).length > 0) return { problems };
  const [legalName, address] = [typed.legal_name.trim(), typed.address.trim()];
  if (Object.keys(identifiers).length === 0 && legalName === "" && address === "") return {};
  return { wanted: { identifiers, legalName, address, fuzzy: !typed.exact } };
}

function problemOf(name: "legal_name" | "address", text: string): string | undefined {
  const most = MAX_CHARACTERS[name];
  if ([...text].length > most) return `The ${labels[name]} must be at most ${most} characters.`;
  const problem = text === "" ? undefined : textProblem(text);
  if (problem) return `The ${labels[name]} ${problem}.`;
  if (containsTin(text)) {
    return `The ${labels[name]} must not contain a TIN. Enter the TIN in its own field.`;
  }
  return undefined;
}

/** Returns the part of the input that may be shown again: never the TIN, in whatever field it was entered. */
export function echoOfSearch(typed: TypedSearch): EchoedSearch {
  const tin = digitsOf(typed.tin);
  const holdsTin = (text: string) => tin !== "" && digitsOf(text).includes(tin);
  const shown = (text: string) => (holdsTin(text) || containsTin(text) ? "" : text.trim());
  return {
    uei: shown(typed.uei),
    cage: shown(typed.cage),
    // A D-U-N-S number looks like a TIN, so it is left out only if it equals the entered TIN.
    duns: holdsTin(typed.duns) ? "" : typed.duns.trim(),
    legal_name: shown(typed.legal_name),
    address: shown(typed.address),
    exact: typed.exact,
  };
}

/** Returns the query of the page with the results of a search without a TIN. */
export function searchQuery({ exact, ...texts }: EchoedSearch): string {
  const given = Object.entries(texts).filter(([, text]) => text !== "");
  return new URLSearchParams([...given, ...(exact ? [["mode", "exact"]] : [])]).toString();
}

const digitsOf = (text: string) => text.replaceAll(/\D/g, "");
