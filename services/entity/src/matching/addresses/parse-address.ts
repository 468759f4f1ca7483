import { stateBefore } from "../places.ts";
import { splitAddress } from "./address-words.ts";
import { readPlaceEnd } from "./parse-place.ts";
import { readStreet, type Street } from "./parse-street.ts";
import { readUnits } from "./parse-units.ts";
import { uspsWords } from "./usps.ts";

/** The parts of a postal address in USPS form, upper case; an absent part is "" or empty. */
export interface ParsedAddress extends Street {
  readonly city: readonly string[];
  /** Two letters. */
  readonly state: string;
  readonly zip5: string;
}

/**
 * Parses a US address on one line, with or without commas, also after a name or an "Attn:". Where the words do not show
 * where the street ends and the city begins, it takes the likeliest split.
 */
export function parseAddress(text: string): ParsedAddress {
  const split = splitAddress(text);
  const { end, state, isNewYork, zip5 } = readPlaceEnd(split);
  const { street, next } = readStreet(split, end, state !== "" || zip5 !== "");
  const city = readCity(split.words.slice(0, end), split.breaks, next, state);
  return { ...street, city: city.length === 0 && isNewYork ? ["NEW", "YORK"] : city, state, zip5 };
}

/** Parses the first two lines of an address, which have no city. */
export function parseStreetLines(line1: string, line2 = ""): Street {
  const split = splitAddress(line2 ? `${line1}, ${line2}` : line1);
  return readStreet(split, split.words.length, false).street;
}

/** The words between the street (or the last comma) and the state. */
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
