import { expand } from "../matching/names/abbreviations.ts";
import { isParticle } from "../matching/names/common-words.ts";
import type { NormalizedName } from "../matching/names/normalize-name.ts";

/** Words of a name that it is found by, at most. */
export const MAX_WORDS = 12;

/** The words by which a name is found, each once: its core without particles, unless it has nothing else. */
export function wordsOf(name: NormalizedName): string[] {
  const telling = name.coreTokens.filter((word) => !isParticle(word));
  return [...new Set(telling.length > 0 ? telling : name.coreTokens)].slice(0, MAX_WORDS);
}

/** What else a word of a name may stand for: an abbreviation of several meanings counts as each. */
export function otherReadings(word: string): readonly string[] {
  return expand(word).filter((reading) => reading !== word);
}
