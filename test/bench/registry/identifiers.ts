import { ueiCheckDigit } from "@vvs/identifiers/oddities";

/** Without O and I, which UEIs and CAGEs avoid, and without 0, which they can't begin with. */
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ123456789";
const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ";

/** A prime, so that steps of a fixed size reach each remainder once. */
const CAGES = 39_135_389; // the largest prime below 33 ** 5

/** Returns the UEI of a row, unique for the seed, with a valid check digit and no long runs of digits. */
export function ueiOf(seed: number, index: number): string {
  let left = index;
  let text = "";
  for (let place = 0; place < 11; place++) {
    // Letters at some places, so that there are never nine digits in a row.
    const alphabet = place % 4 === 3 ? LETTERS : ALPHABET;
    const shift = (seed * 7 + place * 11) % alphabet.length;
    text = `${alphabet[(left + shift) % alphabet.length]}${text}`;
    left = Math.floor(left / alphabet.length);
  }
  return `${text}${ueiCheckDigit(text)}`;
}

/** Returns the row that has a UEI of `ueiOf` with the same seed. */
export function indexOfUei(seed: number, uei: string): number {
  let index = 0;
  let unit = 1;
  for (let place = 0; place < 11; place++) {
    const alphabet = place % 4 === 3 ? LETTERS : ALPHABET;
    const shift = (seed * 7 + place * 11) % alphabet.length;
    const digit = alphabet.indexOf(uei[10 - place]!);
    index += unit * ((digit - shift + alphabet.length) % alphabet.length);
    unit *= alphabet.length;
  }
  return index;
}

/** Returns the CAGE of a row, unique for the seed among about 39 million rows. */
export function cageOf(seed: number, index: number): string {
  let left = (index * 5_915_587 + seed * 101) % CAGES;
  let text = "";
  for (let place = 0; place < 5; place++) {
    text += ALPHABET[left % ALPHABET.length];
    left = Math.floor(left / ALPHABET.length);
  }
  return text;
}
