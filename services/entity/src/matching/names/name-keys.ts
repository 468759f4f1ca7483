import { isCommonWord, isParticle, mistypedCommonWord } from "./common-words.ts";
import type { NormalizedName } from "./normalize-name.ts";

/** Maximum number of words by which a name is found. */
export const MAX_WORDS = 12;
const maxTokens = 10;
const maxKeys = 96;
const beginningLength = 6;

/** The distinct words by which a name is found: those of its core without particles, unless it consists of particles. */
export function wordsOf({ coreTokens }: NormalizedName): string[] {
  const words = coreTokens.filter((word) => !isParticle(word));
  return [...new Set(words.length > 0 ? words : coreTokens)].slice(0, MAX_WORDS);
}

/**
 * The keys under which a name is stored: `n:` the whole core (also the key of an exact look-up), `t:` each word and each
 * pair of adjacent words joined, `d:` the beginning of each uncommon word, whole and with one letter omitted, so that
 * names with a typing error there share a key. An error behind the beginning does not matter.
 */
export function candidateKeys(name: NormalizedName): string[] {
  const words = wordsOf(name).slice(0, maxTokens);
  const keys = new Set(exactKeys(name));
  for (const word of words) keys.add(`t:${word}`);
  for (const pair of joinedPairs(name)) keys.add(`t:${pair}`);
  for (const word of words.filter(isUncommon)) for (const key of beginnings(word)) keys.add(key);
  return [...keys].slice(0, maxKeys);
}

/** The keys of an exact look-up; the names found must still pass `namesAgree`. */
export function exactKeys(name: NormalizedName): string[] {
  return name.keys.filter((key) => key !== "").map((key) => `n:${key}`);
}

/**
 * The keys to look a name up by, in tiers from the most specific: the whole name; adjacent words joined (a mistyped
 * common word also corrected); uncommon words; their beginnings with typing errors; common words. A store queries tier
 * by tier until it has enough candidates, with a limit on each.
 */
export function queryKeys(name: NormalizedName): string[][] {
  const words = wordsOf(name).slice(0, maxTokens);
  const uncommon = words.filter(isUncommon);
  const corrected = { ...name, coreTokens: name.coreTokens.map((word) => mistypedCommonWord(word) ?? word) };
  const tiers = [
    exactKeys(name),
    [...joinedPairs(name), ...joinedPairs(corrected)].map((pair) => `t:${pair}`),
    uncommon.map((word) => `t:${word}`),
    uncommon.flatMap(beginnings),
    words.filter((word) => !isUncommon(word)).map((word) => `t:${word}`),
  ];
  return tiers.map((keys) => [...new Set(keys)].slice(0, maxKeys)).filter((keys) => keys.length > 0);
}

/** The keys that find most names without typing errors, in two lists: the whole name and joined pairs; uncommon words. */
export function plainQueryKeys(name: NormalizedName): string[][] {
  const uncommon = wordsOf(name).slice(0, maxTokens).filter(isUncommon);
  const whole = [...exactKeys(name), ...joinedPairs(name).map((pair) => `t:${pair}`)];
  return [whole, uncommon.map((word) => `t:${word}`)].filter((keys) => keys.length > 0);
}

function joinedPairs(name: NormalizedName): string[] {
  const words = name.coreTokens.slice(0, maxTokens);
  return words.slice(1).map((word, index) => `${words[index]!}${word}`);
}

function isUncommon(word: string): boolean {
  return !isCommonWord(word);
}

function beginnings(word: string): string[] {
  if (word.length < 4) return [];
  const start = word.slice(0, beginningLength);
  const shortened = [...start].map((_, at) => start.slice(0, at) + start.slice(at + 1));
  return [start, ...shortened].map((text) => `d:${text}`);
}
