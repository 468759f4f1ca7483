import { osaDistance } from "../osa-distance.ts";
import { expand, isAbbreviationOf } from "./abbreviations.ts";
import { isCommonWord } from "./common-words.ts";
import { soundOf } from "./phonetics.ts";
import { areTranslations } from "./translations.ts";

const abbreviationSimilarity = 0.97;
const translationSimilarity = 0.95;
/** Similarity of words that sound equal, relative to words that are spelled equally. */
const soundFactor = 0.9;

/**
 * The similarity of two words of names, 0–1: allows typing errors (more in longer words), abbreviations, translations of
 * general words, and spellings of the same sound. The similarity of words with different digits is 0.
 */
export function tokenSimilarity(a: string, b: string): number {
  if (a === b) return 1;
  if (digitsOf(a) !== digitsOf(b)) return 0;
  if (isAbbreviationOf(a, b)) return abbreviationSimilarity;
  if (areTranslations(a, b)) return translationSimilarity;
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length === 1) return long.startsWith(short) && long.length > 1 ? 0.5 : 0;
  const spelled = Math.max(spellingSimilarity(a, b), abbreviated(short, long));
  if (spelled >= 0.75) return spelled;
  // What an abbreviation stands for may be mistyped.
  return Math.max(spelled, ...expand(short, true).map((word) => soundSimilarity(word, long)));
}

const longForSound = 8;

/** After one error in three letters, little is left to recognize. */
const shortWordSimilarity = 0.55;

/** The similarity of two words as typed, 0–1; 0 where there are too many errors for their length. */
export function spellingSimilarity(a: string, b: string): number {
  if (a === b) return 1;
  const budget = editBudget(a, b);
  if (Math.min(a.length, b.length) === 3) return osaDistance(a, b, 1) <= 1 ? shortWordSimilarity : 0;
  const edits = budget > 0 ? osaDistance(a, b, budget) : 1;
  return edits <= budget ? 1 - edits / (Math.max(a.length, b.length) + 1) : 0;
}

/**
 * The similarity of two words by their sound; only for words of five letters and more, and with a typing error only for
 * long ones: "Sigma" and "Cigna" are two words.
 */
function soundSimilarity(a: string, b: string): number {
  const shortest = Math.min(a.length, b.length);
  if (shortest < 5 || Math.abs(a.length - b.length) > 4) return 0;
  const [one, other] = [soundOf(a), soundOf(b)];
  return one === other || shortest >= longForSound ? soundFactor * spellingSimilarity(one, other) : 0;
}

/** Two errors in a short word make another word ("timber", "lumber"), unless it still begins the same. */
function editBudget(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  if (length < 4) return 0;
  if (length < 8) return length >= 5 && a[0] === b[0] ? 2 : 1;
  return length < 12 ? 2 : 3;
}

/** Similarity of a word and its beginning ("constr") or consonants ("grp"); higher for words that are often shortened. */
function abbreviated(short: string, long: string): number {
  if (short.length < 3 || short.length > long.length - 2) return 0;
  const isCommon = isCommonWord(long);
  if (long.startsWith(short)) return isCommon || short.length >= 6 ? 0.8 : 0.5;
  if (short[0] !== long[0] || !hasInOrder(long, short)) return 0;
  if (!/[aeiou]/.test(short.slice(1))) return isCommon || short.length >= 4 ? 0.75 : 0;
  return isCommon && short.at(-1) === long.at(-1) ? 0.7 : 0;
}

/** True when a word contains the given letters in their order. */
export function hasInOrder(word: string, letters: string): boolean {
  let at = 0;
  for (let index = 0; index < word.length && at < letters.length; index++) if (word[index] === letters[at]) at++;
  return at === letters.length;
}

function digitsOf(word: string): string {
  for (let index = 0; index < word.length; index++) {
    if (word.charCodeAt(index) <= 57) return word.replace(/\D/g, "");
  }
  return "";
}
