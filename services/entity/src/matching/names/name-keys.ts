import { isCommonWord, isParticle, mistypedCommonWord } from "./common-words.ts";
import type { NormalizedName } from "./normalize-name.ts";

const maxTokens = 10;
const maxKeys = 96;
/** Typing errors are looked for in a word's beginning; an error behind it leaves the beginning as it is. */
const beginningLength = 6;

/**
 * The keys under which a name is found again, for an index that holds many per document: `n:` the whole core (also
 * what an exact look-up asks for), `t:` each word and each pair of neighbours written together, `d:` the beginning of
 * each uncommon word, whole and with one letter left out, so that a typing error on either side still meets.
 */
export function candidateKeys(name: NormalizedName): string[] {
  const words = meaningful(name);
  const keys = new Set(exactKeys(name));
  for (const word of words) keys.add(`t:${word}`);
  for (const pair of joinedPairs(name)) keys.add(`t:${pair}`);
  for (const word of words.filter(isUncommon)) for (const key of beginnings(word)) keys.add(key);
  return [...keys].slice(0, maxKeys);
}

/** The keys of an exact look-up; what they find must still pass `namesAgree`. */
export function exactKeys(name: NormalizedName): string[] {
  return name.keys.filter((key) => key !== "").map((key) => `n:${key}`);
}

/**
 * The keys to look a name up by, in tiers from the most telling: the whole name; joined neighbours; uncommon words;
 * their beginnings with typing errors; common words. A common word that is mistyped counts as itself beside
 * its neighbours. A store asks tier by tier until it has candidates enough, with a
 * limit on each.
 */
export function queryKeys(name: NormalizedName): string[][] {
  const words = meaningful(name);
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

/**
 * The keys by which most names are found that are written as they are, in two lists that tell about as much: the whole
 * name and joined neighbours; uncommon words.
 */
export function plainQueryKeys(name: NormalizedName): string[][] {
  const uncommon = meaningful(name).filter(isUncommon);
  const whole = [...exactKeys(name), ...joinedPairs(name).map((pair) => `t:${pair}`)];
  return [whole, uncommon.map((word) => `t:${word}`)].filter((keys) => keys.length > 0);
}

function meaningful(name: NormalizedName): string[] {
  const words = name.coreTokens.filter((word) => !isParticle(word));
  return [...new Set(words.length > 0 ? words : name.coreTokens)].slice(0, maxTokens);
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
