import { stateBefore, zip5Of } from "../places.ts";
import type { AddressWords } from "./address-words.ts";
import { directionOf, isPlainSuffix, numberOf, suffixOf, unitOf } from "./usps.ts";

/** The state and ZIP code at the end of a one-line address; "" where absent. */
export interface PlaceEnd {
  /** The position of the first of their words. */
  readonly end: number;
  /** Two letters. */
  readonly state: string;
  /** True where the state is written "New York", which may be meant as the city. */
  readonly isNewYork: boolean;
  readonly zip5: string;
}

/** ZIP codes of the states whose code is also a street's suffix or a direction. */
const zipsOf: Readonly<Record<string, RegExp>> = { CT: /^06/, NE: /^6[89]/, MT: /^59/, PR: /^00[679]/ };
const countries = [["UNITED", "STATES", "OF", "AMERICA"], ["UNITED", "STATES"], ["USA"], ["US"]];

/** Finds ZIP code and state at the end of an address; ignores words after the ZIP code. */
export function readPlaceEnd({ words, breaks }: AddressWords): PlaceEnd {
  const last = withoutCountry(words);
  const zip = findZip(words, last);
  const end = zip?.at ?? last;
  const zip5 = zip?.zip5 ?? "";
  const state = stateBefore(words, end);
  if (!state || !isState(words, breaks, end, state, zip5)) {
    return { end, state: "", isNewYork: false, zip5 };
  }
  const start = end - state.length;
  return { end: start, state: state.code, isNewYork: words[start] === "NEW" && words[start + 1] === "YORK", zip5 };
}

function withoutCountry(words: readonly string[]): number {
  for (const country of countries) {
    const start = words.length - country.length;
    if (start > 1 && country.every((word, index) => words[start + index] === word)) return start;
  }
  return words.length;
}

function findZip(words: readonly string[], last: number): { at: number; zip5: string } | undefined {
  for (let at = last - 1; at > 0; at--) {
    const isLast = at === last - 1;
    const hasState = stateBefore(words, at) !== undefined;
    const zip5 = zip5Of(words[at]!) ?? (isLast && hasState ? withLostZero(words[at]!) : undefined);
    const before = words[at - 1]!;
    if (!zip5 || before === "#" || before === "BOX" || (unitOf(before) && !hasState)) continue;
    const next = words[at + 1];
    const isSplit = at === last - 2 && /^\d{4}$/.test(next!);
    if (isLast || isSplit || hasState) return { at, zip5 };
  }
  return undefined;
}

/** Restores the leading zero of a ZIP code that a spreadsheet took for a number. */
function withLostZero(word: string): string | undefined {
  return /^\d{4}$/.test(word) ? `0${word}` : undefined;
}

/** True for a state; false for a court, a direction or a street of the same spelling. */
function isState(
  words: readonly string[],
  breaks: ReadonlySet<number>,
  end: number,
  { code, length }: { code: string; length: number },
  zip5: string,
): boolean {
  const start = end - length;
  const before = words.slice(0, start);
  const word = words[start]!;
  const last = before.at(-1) ?? "";
  // "6th St Ct", "Peachtree Street, NE", "21st Fl".
  const isOther =
    suffixOf(word) || directionOf(word) ? isPlainSuffix(last) : unitOf(word) && /^\d+(?:ST|ND|RD|TH)?$/.test(last);
  if (length === 1 && !zip5 && (isOther || numberOf(last))) return false;
  if (breaks.has(start)) return true;
  const hasSuffixBefore = before.some((candidate, index) => index > 1 && isPlainSuffix(candidate));
  if (length === 1 && (suffixOf(word) || directionOf(word))) {
    return zip5 ? (zipsOf[code]?.test(zip5) ?? true) : hasSuffixBefore;
  }
  if (zip5 || hasSuffixBefore) return start > 0;
  // "27 Washington" and "100 N Delaware" are streets.
  const named = before.filter((candidate, index) => !directionOf(candidate) && (index > 0 || !/^\d/.test(candidate)));
  return named.length >= (length === 1 && word.length === 2 ? 1 : 2);
}
