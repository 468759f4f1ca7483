import { containsTin, type IdentifierType, identifierTypes, normalizeIdentifier } from "@vvs/identifiers";
import { holdsDigitsOf, problemOfText, typedText } from "../verifications/verification-form.ts";

const fields = ["uei", "cage", "duns", "tin", "legal_name", "address", "mode"] as const;

/** The input of the search for vendors. The mode is "exact", or empty to find similar vendors too. */
export type SearchInput = Readonly<Record<(typeof fields)[number], string>>;

/** The part of the input that may be in an address or on a page: never the TIN. */
export type EchoedSearch = Omit<SearchInput, "tin">;

export type SearchProblems = NonNullable<ReturnType<typeof readSearch>["problems"]>;

/** Returns the input whose fields `read` returns. */
export function searchInput(read: (name: string) => string): SearchInput {
  const typed = Object.fromEntries(fields.map((name) => [name, typedText(read(name))])) as SearchInput;
  return { ...typed, mode: typed.mode === "exact" ? "exact" : "" };
}

/** Checks the input. Returns the request, or all problems, or neither for an empty form; no problem repeats a value. */
export function readSearch({ legal_name, address, mode, ...typed }: SearchInput) {
  const identifiers: { [T in IdentifierType]?: string } = {};
  for (const type of identifierTypes) {
    const value = normalizeIdentifier(typed[type]);
    if (value !== "") identifiers[type] = value;
  }
  const problems = {
    legal_name: problemOfText("name", legal_name, 300),
    address: problemOfText("address", address, 500),
  };
  if (problems.legal_name || problems.address) return { problems };
  if (Object.keys(identifiers).length === 0 && legal_name === "" && address === "") return {};
  return { request: { identifiers, legalName: legal_name, address, fuzzy: mode !== "exact" } };
}

/**
 * Returns the part of the input that may be shown again: never the TIN, in whatever field it was entered. A D-U-N-S
 * number looks like a TIN, so it is left out only if it equals the entered TIN.
 */
export function echoOfSearch({ tin, ...typed }: SearchInput): EchoedSearch {
  const holdsTin = holdsDigitsOf(tin);
  const shown = (text: string) => (holdsTin(text) || containsTin(text) ? "" : text);
  return {
    ...typed,
    uei: shown(typed.uei),
    cage: shown(typed.cage),
    duns: holdsTin(typed.duns) ? "" : typed.duns,
    legal_name: shown(typed.legal_name),
    address: shown(typed.address),
  };
}
