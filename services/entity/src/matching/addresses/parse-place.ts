import type { AddressWords } from "./address-words.ts";
import { directionOf, isPlainSuffix, numberOf, stateBefore, suffixOf, unitOf } from "./usps.ts";

/** The end of a one-line address: where it is, without the city. */
export interface PlaceEnd {
  /** Words before this position are street, city and whatever else. */
  readonly end: number;
  /** Two letters, "" for none. */
  readonly state: string;
  /** True where the state's name is the whole of "New York". */
  readonly isNewYork: boolean;
  readonly zip5: string;
  readonly zip4: string;
}

/** ZIP codes begin so in states whose code is also a street's suffix or a direction. */
const zipsOf: Readonly<Record<string, RegExp>> = { CT: /^06/, NE: /^6[89]/, MT: /^59/, PR: /^00[679]/ };
const countries = [["UNITED", "STATES", "OF", "AMERICA"], ["UNITED", "STATES"], ["USA"], ["US"]];

/** Finds ZIP code and state at the end of an address; what follows the ZIP code is left out. */
export function readPlaceEnd({ words, breaks }: AddressWords): PlaceEnd {
  const last = withoutCountry(words);
  const zip = findZip(words, last);
  const end = zip?.at ?? last;
  const place = { zip5: zip?.zip5 ?? "", zip4: zip?.zip4 ?? "" };
  const state = stateBefore(words, end);
  if (!state || !isState(words, breaks, end, state, place.zip5)) {
    return { end, state: "", isNewYork: false, ...place };
  }
  const start = end - state.length;
  return { end: start, state: state.code, isNewYork: words[start] === "NEW" && words[start + 1] === "YORK", ...place };
}

function withoutCountry(words: readonly string[]): number {
  for (const country of countries) {
    const start = words.length - country.length;
    if (start > 1 && country.every((word, index) => words[start + index] === word)) return start;
  }
  return words.length;
}

function findZip(words: readonly string[], last: number): { at: number; zip5: string; zip4: string } | undefined {
  for (let at = last - 1; at > 0; at--) {
    const isLast = at === last - 1;
    const hasState = stateBefore(words, at) !== undefined;
    const [, zip5, zip4 = ""] =
      /^(\d{5})(?:-?(\d{4}))?$/.exec(words[at]!) ?? withoutZero(words[at]!, isLast && hasState);
    const before = words[at - 1]!;
    if (!zip5 || before === "#" || before === "BOX" || (unitOf(before) && !hasState)) continue;
    const next = words[at + 1];
    const isSplit = at === last - 2 && /^\d{4}$/.test(next!);
    if (isLast || isSplit || hasState) return { at, zip5, zip4: zip4 || (isSplit ? next! : "") };
  }
  return undefined;
}

/** A ZIP code that a spreadsheet took for a number. */
function withoutZero(word: string, isLikely: boolean): [string, string] | [] {
  return isLikely && /^\d{4}$/.test(word) ? [word, `0${word}`] : [];
}

/** Is it a state, and neither a court, a direction nor a street that is named so? */
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
