import { stateCodeOf, stateNameOf, zip5Of } from "../places.ts";
import { splitAddress } from "./address-words.ts";
import { type ParsedAddress, parseAddress, parseStreetLines } from "./parse-address.ts";
import { withHighways } from "./parse-highway.ts";
import { uspsWords } from "./usps.ts";

/** A postal address. Parts that the source does not have are "", except `line2`, which is left out. */
export interface Address {
  type: "physical" | "mailing";
  line1: string;
  line2?: string;
  city: string;
  /** Two-letter code in the USA, the source's text elsewhere. */
  state: string;
  /** Five digits or ZIP+4 (`20190-5617`) in the USA, the source's text elsewhere. */
  zip: string;
  /** ISO 3166 alpha-3. */
  country: string;
}

/** A one-line address of a look-up. */
export interface AddressQuery {
  readonly parsed: ParsedAddress;
  /** Its words in USPS form. */
  readonly words: readonly string[];
}

export function readAddress(text: string): AddressQuery {
  return { parsed: parseAddress(text), words: addressWords(text) };
}

/** The words of a postal address in USPS form; see `splitAddress`, `withHighways` and `uspsWords`. */
export function addressWords(text: string): string[] {
  return uspsWords(withHighways(splitAddress(text).words));
}

/** The line of an address that has the street: the second where the first is a person, a suite or a building. */
export function streetLine({ line1, line2 = "" }: Pick<Address, "line1" | "line2">): string {
  if (line2 === "" || hasDoor(line1)) return line1;
  const { name, units } = parseStreetLines(line1);
  return hasDoor(line2) || careOf.test(line1) || (units.length > 0 && name.length === 0) ? line2 : line1;
}

const careOf = /^\s*(?:C\s?\/?\s?O|CARE OF|ATTN|ATTENTION)\b/i;

function hasDoor(line: string): boolean {
  const { number, box } = parseStreetLines(line);
  return number !== "" || box !== "";
}

/**
 * True when a one-line address contains, in USPS form, the line of the street and the ZIP5, or that line, city and state.
 */
export function addressAgrees({ words }: AddressQuery, address: Address): boolean {
  const line = addressWords(streetLine(address));
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

/** The ways to write a state: its code, its name, and its form in the source. */
function stateForms(state: string): string[][] {
  const code = stateCodeOf(state);
  const written = addressWords(state);
  return code ? [[code], addressWords(stateNameOf(code)), written] : [written];
}

/** Removes a run of words; a mark in its place keeps the words around it apart. */
function without(words: readonly string[], at: number, length: number): string[] {
  return [...words.slice(0, at), "|", ...words.slice(at + length)];
}

/** The position of a run of words among others, -1 where it does not occur. */
export function indexOfRun(words: readonly string[], run: readonly string[]): number {
  if (run.length === 0) return -1;
  for (let start = 0; start + run.length <= words.length; start++) {
    if (run.every((word, offset) => words[start + offset] === word)) return start;
  }
  return -1;
}
