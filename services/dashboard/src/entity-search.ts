import {
  containsTin,
  type IdentifierMap,
  type IdentifierType,
  identifierTypes,
  normalizeIdentifier,
} from "@vvs/identifiers";

/** What a user typed into the search for entities. */
export interface TypedSearch {
  readonly uei: string;
  readonly cage: string;
  readonly duns: string;
  readonly tin: string;
  readonly legal_name: string;
  readonly address: string;
  /** Only what agrees exactly; else what is alike too. */
  readonly exact: boolean;
}

/** What of it may be in an address or on a page: never the TIN. */
export type EchoedSearch = Omit<TypedSearch, "tin">;

export type SearchProblems = { readonly [F in "legal_name" | "address"]?: string };

/** What the entity service is asked for. */
export interface WantedSearch {
  readonly identifiers: IdentifierMap;
  readonly legalName: string;
  readonly address: string;
  readonly fuzzy: boolean;
}

const MAX_CHARACTERS = { legal_name: 300, address: 500 } as const;
const labels = { legal_name: "name", address: "address" } as const;

/** What a search asks for; undefined for an empty form; or what is wrong with it, without repeating a value. */
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
  if (text.includes("\u0000") || !text.isWellFormed()) return `The ${labels[name]} must be valid text.`;
  if (containsTin(text)) {
    return `The ${labels[name]} must not contain what looks like a TIN: type that into its own field.`;
  }
  return undefined;
}

/** What may be shown again of a search: not the TIN, wherever it was typed. */
export function echoOfSearch(typed: TypedSearch): EchoedSearch {
  const tin = digitsOf(typed.tin);
  const holdsTin = (text: string) => tin !== "" && digitsOf(text).includes(tin);
  const shown = (text: string) => (holdsTin(text) || containsTin(text) ? "" : text.trim());
  return {
    uei: shown(typed.uei),
    cage: shown(typed.cage),
    // A D-U-N-S number looks like a TIN.
    duns: holdsTin(typed.duns) ? "" : typed.duns.trim(),
    legal_name: shown(typed.legal_name),
    address: shown(typed.address),
    exact: typed.exact,
  };
}

/** The query of the page that shows what a search without a TIN finds. */
export function searchQuery({ exact, ...texts }: EchoedSearch): string {
  const given = Object.entries(texts).filter(([, text]) => text !== "");
  return new URLSearchParams([...given, ...(exact ? [["mode", "exact"]] : [])]).toString();
}

const digitsOf = (text: string) => text.replaceAll(/\D/g, "");
