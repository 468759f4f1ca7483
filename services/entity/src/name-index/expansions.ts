import { expand } from "../matching/names/abbreviations.ts";
import { isParticle } from "../matching/names/common-words.ts";
import { wordsOf } from "../matching/names/name-keys.ts";
import type { NormalizedName } from "../matching/names/normalize-name.ts";
import { hasInOrder } from "../matching/names/token-similarity.ts";
import { append } from "./grouped.ts";
import type { Names } from "./names.ts";

/** A word of the index that may be meant by `span` words of a query, from word `first` on. */
export interface Expansion {
  readonly word: number;
  /** Similarity, 0–1. */
  readonly likeness: number;
  readonly first: number;
  readonly span: number;
}

/** Two words of the index that may be meant by one word of a query. */
export interface Split {
  readonly words: readonly [number, number];
  readonly position: number;
}

export interface ExpandedQuery {
  readonly words: readonly string[];
  readonly expansions: readonly Expansion[];
  readonly splits: readonly Split[];
}

/** Likeness of a word to its other readings, to two words joined, and to a longer word that it shortens. */
const READING = 0.95;
export const JOINED = 0.97;
const SHORTENED = 0.8;
const LONGEST_PARTICLE = 3;
const SHORTEST_REST = 3;
const MAX_NEAR = 16;
const MAX_LONGER = 6;
const MAX_SPLITS = 4;
const SHORTEST_PIECE = 2;
/** From this length on, one of the two pieces of a word may be a single letter. */
const LETTER_SPLIT_FROM = 6;
/** A word in at most this many names may well be a mistyped or shortened one. */
const RARE_NAMES = 300;
/** Maximum number of words examined for one that begins with a query's word. */
const MAX_BEGINNING = 2_000;

/** Finds the words of the index that may be meant by a query's words. */
export function createExpander(names: Names): (name: NormalizedName) => ExpandedQuery {
  const { dictionary, neighbourhood } = names;
  const shortForms = shortFormsIn(names);
  const sorted = sortedWords(names);
  const frequent = frequentWords(names);

  const near = (text: string, first: number, span: number, likeness: number): Expansion[] => {
    const found: Expansion[] = [];
    neighbourhood.near(text, (word, errors) => {
      found.push({ word, likeness: likeness * (1 - errors / (text.length + 1)), first, span });
    });
    found.sort((a, b) => b.likeness - a.likeness || names.countOf(b.word) - names.countOf(a.word));
    return found.slice(0, MAX_NEAR);
  };
  const longer = (text: string): number[] => {
    if (text.length < 3) return [];
    const found: number[] = [];
    let at = firstFrom(sorted, dictionary.wordAt, text);
    for (let looked = 0; looked < MAX_BEGINNING && at < sorted.length; looked++, at++) {
      const word = dictionary.wordAt(sorted[at]!);
      if (!word.startsWith(text)) break;
      if (word.length >= text.length + 2) found.push(sorted[at]!);
    }
    if (!/[aeiou]/.test(text.slice(1)))
      found.push(...frequent.filter((word) => isSkeleton(text, dictionary.wordAt(word))));
    return found.sort((a, b) => names.countOf(b) - names.countOf(a)).slice(0, MAX_LONGER);
  };
  const splitsOf = (text: string, position: number): Split[] => {
    const found: { split: Split; count: number }[] = [];
    const shortest = text.length >= LETTER_SPLIT_FROM ? 1 : SHORTEST_PIECE;
    for (let cut = shortest; cut <= text.length - shortest; cut++) {
      const [before, after] = [dictionary.idOf(text.slice(0, cut)), dictionary.idOf(text.slice(cut))];
      if (before === undefined || after === undefined) continue;
      const count = Math.min(names.countOf(before), names.countOf(after)) * Math.min(cut, text.length - cut);
      found.push({ split: { words: [before, after], position }, count });
    }
    found.sort((a, b) => b.count - a.count);
    return found.slice(0, MAX_SPLITS).map(({ split }) => split);
  };
  const isRare = (text: string) => {
    const id = dictionary.idOf(text);
    return id === undefined || names.countOf(id) <= RARE_NAMES;
  };
  /** The rest of a word that begins or ends with a particle ("eltoro"): names are not found by particles. */
  const withoutParticle = (text: string): number[] => {
    const found: number[] = [];
    for (let cut = 1; cut <= LONGEST_PARTICLE && text.length - cut >= SHORTEST_REST; cut++) {
      const ways = [
        [text.slice(0, cut), text.slice(cut)],
        [text.slice(-cut), text.slice(0, -cut)],
      ] as const;
      for (const [particle, rest] of ways) {
        const id = isParticle(particle) ? dictionary.idOf(rest) : undefined;
        if (id !== undefined) found.push(id);
      }
    }
    return found;
  };
  return (name) => {
    const words = wordsOf(name);
    const expansions: Expansion[] = [];
    const splits: Split[] = [];
    for (const [first, text] of words.entries()) {
      const own = dictionary.idOf(text);
      if (own !== undefined) expansions.push({ word: own, likeness: 1, first, span: 1 });
      const readings = otherReadings(text).flatMap((reading) => dictionary.idOf(reading) ?? []);
      for (const word of [...readings, ...(shortForms.get(text) ?? [])]) {
        expansions.push({ word, likeness: READING, first, span: 1 });
      }
      if (isRare(text)) {
        expansions.push(...near(text, first, 1, 1));
        for (const word of longer(text)) expansions.push({ word, likeness: SHORTENED, first, span: 1 });
        for (const word of withoutParticle(text)) expansions.push({ word, likeness: READING, first, span: 1 });
        splits.push(...splitsOf(text, first));
      }
    }
    for (const { text, first, span } of joinsOf(name.coreTokens, words)) {
      const own = dictionary.idOf(text);
      if (own !== undefined) expansions.push({ word: own, likeness: JOINED, first, span });
      // Where a typing error was made too, one of the pieces is a rare word.
      else if (words.slice(first, first + span).some(isRare))
        expansions.push(...near(text, first, span, JOINED).slice(0, 2));
    }
    return { words, expansions, splits };
  };
}

/** Two or three adjacent words of the query joined; `first` and `span` count only the words it is found by. */
function joinsOf(tokens: readonly string[], words: readonly string[]) {
  const joins: { text: string; first: number; span: number }[] = [];
  for (let at = 0; at < tokens.length - 1; at++) {
    for (let length = 2; length <= 3 && at + length <= tokens.length; length++) {
      const pieces = tokens.slice(at, at + length);
      const places = pieces.map((piece) => words.indexOf(piece)).filter((place) => place >= 0);
      if (places.length === 0) continue;
      joins.push({ text: pieces.join(""), first: Math.min(...places), span: places.length });
    }
  }
  return joins;
}

/** The meanings of an abbreviation. */
function otherReadings(word: string): readonly string[] {
  return expand(word, true).filter((reading) => reading !== word);
}

/** The abbreviations in the index that may mean a word. */
function shortFormsIn({ dictionary }: Names): Map<string, number[]> {
  const forms = new Map<string, number[]>();
  for (let id = 0; id < dictionary.size; id++) {
    for (const reading of otherReadings(dictionary.wordAt(id))) append(forms, reading, id);
  }
  return forms;
}

function sortedWords({ dictionary }: Names): Uint32Array {
  const ids = Uint32Array.from({ length: dictionary.size }, (_, id) => id);
  return ids.sort((a, b) => (dictionary.wordAt(a) < dictionary.wordAt(b) ? -1 : 1));
}

/** Words in at least one of 4,000 names: the ones that people shorten. */
function frequentWords(names: Names): number[] {
  const least = Math.max(3, names.nameCount / 4_000);
  const ids: number[] = [];
  for (let id = 0; id < names.dictionary.size; id++) if (names.countOf(id) >= least) ids.push(id);
  return ids;
}

function firstFrom(sorted: Uint32Array, wordAt: (id: number) => string, text: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (wordAt(sorted[middle]!) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** True where the letters abbreviate the word ("svcs", "services"). */
function isSkeleton(letters: string, word: string): boolean {
  return letters[0] === word[0] && word.length >= letters.length + 2 && hasInOrder(word, letters);
}
