import { isPlaceWord } from "../places.ts";
import { priorShare } from "./common-words.ts";
import { meaningIn } from "./translations.ts";

/** How rare a word is, from 0 (every name has it) to 1 (no other name has it). */
export type Idf = (word: string) => number;

/** Words of at least this IDF are distinctive: of n names, fewer than √n contain them. */
export const distinctiveIdf = 0.5;

/** The weight of general knowledge, in names: the counts of a corpus far smaller than this say little. */
const priorNames = 20_000;

/**
 * Weighs words by how many of a corpus's names contain them, smoothed with what is known of business names in general,
 * so that "Services" is not rare in a small corpus.
 */
export function createIdf(corpus: { nameCount: number; namesWith: (word: string) => number }): Idf {
  const total = corpus.nameCount + priorNames;
  return (word) => {
    const isWeak = word.length === 1 || meaningIn(word) !== undefined || /^\d+$/.test(word) || isPlaceWord(word);
    const prior = Math.max(priorShare(word), isWeak ? 0.008 : 0);
    const count = Math.max(1, corpus.namesWith(word) + prior * priorNames);
    return Math.max(0, Math.log(total / count) / Math.log(total));
  };
}

/** Word weights without a corpus. */
export const generalIdf: Idf = createIdf({ nameCount: 0, namesWith: () => 0 });
