import { splitAddress } from "./address-words.ts";
import { readPlaceEnd } from "./parse-place.ts";
import { readStreet, type Street } from "./parse-street.ts";
import { readUnits } from "./parse-units.ts";
import { stateBefore, uspsWords } from "./usps.ts";

/** A postal address by its parts, words upper case in USPS form. What is not there is "" or empty. */
export interface ParsedAddress extends Street {
  readonly city: readonly string[];
  /** Two letters. */
  readonly state: string;
  readonly zip5: string;
  readonly zip4: string;
}

/**
 * Reads a US address written on one line, with or without commas, also behind a name or an "Attn:". Where words alone
 * do not tell the street from the city, the likeliest split is taken.
 */
export function parseAddress(text: string): ParsedAddress {
  const split = splitAddress(text);
  const { end, state, isNewYork, zip5, zip4 } = readPlaceEnd(split);
  const { street, next } = readStreet(split, end, state !== "" || zip5 !== "");
  const city = readCity(split.words.slice(0, end), split.breaks, next, state);
  return { ...street, city: city.length === 0 && isNewYork ? ["NEW", "YORK"] : city, state, zip5, zip4 };
}

/** Reads the first two lines of an address whose city is known apart: all of it is the street and its unit. */
export function parseStreetLines(line1: string, line2 = ""): Street {
  const split = splitAddress(line2 ? `${line1}, ${line2}` : line1);
  return readStreet(split, split.words.length, false).street;
}

/** What is between the street and the state; behind the last comma, where there is one. */
function readCity(words: readonly string[], breaks: ReadonlySet<number>, from: number, state: string): string[] {
  let start = Math.max(from, ...[...breaks].filter((at) => at < words.length));
  for (let at = start; at < words.length; at++) {
    const { next } = readUnits(words, at, at === start);
    if (next > at && next < words.length) start = next;
  }
  // "Memphis TN, TN 38103".
  const twice = stateBefore(words, words.length);
  const end =
    state !== "" && twice?.code === state && words.length - twice.length > start
      ? words.length - twice.length
      : words.length;
  return uspsWords(words.slice(start, end).filter((word) => !/\d|#/.test(word)));
}
