import { ueiCheckDigit } from "../../../services/entity/src/model/identifiers.ts";

const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ123456789"; // neither O nor I, which UEIs and CAGEs avoid, nor a 0 in front
const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ";

/** A prime, so that counting on in steps of a number without it passes each remainder once. */
const CAGES = 39_135_389; // the largest below 33 ** 5

/** The UEI of a row, as no other row's of the same seed, with a sound check digit and no long runs of digits. */
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

/** The CAGE of a row, as no other row's of the same seed among some 39 million. */
export function cageOf(seed: number, index: number): string {
  let left = (index * 5_915_587 + seed * 101) % CAGES;
  let text = "";
  for (let place = 0; place < 5; place++) {
    text += ALPHABET[left % ALPHABET.length];
    left = Math.floor(left / ALPHABET.length);
  }
  return text;
}
