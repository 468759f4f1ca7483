import { isPlaceWord } from "../addresses/places.ts";
import { priorShare } from "./common-words.ts";
import { meaningIn } from "./translations.ts";

/** How telling a word is, from 0 (every name has it) to 1 (no other name has it). */
export type Idf = (word: string) => number;

/** From here on a word is distinctive: fewer than one name in the square root of their number holds it. */
export const distinctiveIdf = 0.5;

/** The weight of general knowledge, in names: a corpus far smaller than this says little about words by itself. */
const priorNames = 20_000;

/**
 * Weighs words by their frequency among the names of a corpus, smoothed with what is known of business names in
 * general, so that a small corpus does not take "Services" for a rare word.
 *
 * @param corpus.nameCount names in the corpus, 0 for none
 * @param corpus.namesWith names that hold a word
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
