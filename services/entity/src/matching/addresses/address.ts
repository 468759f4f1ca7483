import type { Address } from "../../model/facts.ts";
import { splitAddress } from "./address-words.ts";
import { type ParsedAddress, parseAddress } from "./parse-address.ts";
import { stateCodeOf, stateNameOf, uspsWords } from "./usps.ts";

/** An address that somebody asks for on one line, read once for all that it is compared with. */
export interface AddressQuery {
  readonly parsed: ParsedAddress;
  /** Its words in USPS form, in their order. */
  readonly words: readonly string[];
}

/** Reads a one-line address. */
export function readAddress(text: string): AddressQuery {
  return { parsed: parseAddress(text), words: addressWords(text) };
}

/**
 * The words of a postal address in USPS form: upper case, without punctuation, street suffixes, directions and units
 * abbreviated, "P.O. Box" as `PO BOX`, `N.W.` as `NW`, "First" as `1ST`, `37-28` as `3728`.
 */
export function addressWords(text: string): string[] {
  return uspsWords(splitAddress(text).words);
}

/**
 * True when a one-line address holds, after USPS abbreviation, the first line of the address and, beside it, either
 * its city and state or its ZIP5.
 */
export function addressAgrees({ words }: AddressQuery, address: Address): boolean {
  const line = addressWords(address.line1);
  const at = indexOfRun(words, line);
  if (line.length === 0 || at === -1) return false;
  const rest = without(words, at, line.length);
  const zip5 = zip5Of(address.zip);
  if (zip5 !== undefined && rest.some((word) => zip5Of(word) === zip5)) return true;
  const city = addressWords(address.city);
  const cityAt = indexOfRun(rest, city);
  if (city.length === 0 || cityAt === -1) return false;
  const beside = without(rest, cityAt, city.length);
  return stateForms(address.state).some((form) => form.length > 0 && indexOfRun(beside, form) !== -1);
}

/** How a state may be written: its code, its name, and as the source has it. */
function stateForms(state: string): string[][] {
  const code = stateCodeOf(state);
  const written = addressWords(state);
  return code ? [[code], addressWords(stateNameOf(code)), written] : [written];
}

/** The words around a run; the gap keeps what stood apart from reading as one. */
function without(words: readonly string[], at: number, length: number): string[] {
  return [...words.slice(0, at), "|", ...words.slice(at + length)];
}

/** The ZIP5 that a word can be, also as ZIP+4, with its hyphen or without. */
export function zip5Of(word: string): string | undefined {
  return /^(\d{5})(?:-?\d{4})?$/.exec(word.trim())?.[1];
}

/** Where a run of words begins among others, -1 for nowhere. */
export function indexOfRun(words: readonly string[], run: readonly string[]): number {
  if (run.length === 0) return -1;
  for (let start = 0; start + run.length <= words.length; start++) {
    if (run.every((word, offset) => words[start + offset] === word)) return start;
  }
  return -1;
}
