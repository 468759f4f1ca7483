import { isAbbreviationOf } from "./abbreviations.ts";
import { spellingSimilarity, tokenSimilarity } from "./token-similarity.ts";

/** Places of words that stand for each other; several on one side where words are joined, split or initials. */
export interface Match {
  query: number[];
  candidate: number[];
  similarity: number;
}

/** The words of a name with the weight of each. */
export interface Weighed {
  words: readonly string[];
  weights: readonly number[];
}

const joinedSimilarity = 0.97;
const joinedLeast = 0.8;
const maxJoined = 4;
const initialsSimilarity = 0.9;
const maxInitials = 6;

/**
 * Pairs the words of two names, each once: equal words first, then the weightiest and most similar. A word may stand for
 * adjacent words of the other name ("BLUESKY", "BLUE SKY"), also by their initials ("IBM").
 */
export function align(query: Weighed, candidate: Weighed): Match[] {
  const { chosen, q, c } = equalWords(query.words, candidate.words);
  if (q.length === 0 || c.length === 0) return chosen;
  const possible: Match[] = [];
  for (const i of q) {
    for (const j of c) {
      const similarity = tokenSimilarity(query.words[i]!, candidate.words[j]!);
      if (similarity > 0) possible.push({ query: [i], candidate: [j], similarity });
    }
  }
  for (const { run, place, similarity } of runs(query.words, q, candidate.words, c)) {
    possible.push({ query: run, candidate: [place], similarity });
  }
  for (const { run, place, similarity } of runs(candidate.words, c, query.words, q)) {
    possible.push({ query: [place], candidate: run, similarity });
  }
  choose(possible, query, candidate, chosen);
  return chosen;
}

/** Pairs each word with the nearest equal one; `q` and `c` are the places of the words without an equal. */
function equalWords(query: readonly string[], candidate: readonly string[]) {
  const chosen: Match[] = [];
  const taken: boolean[] = new Array(candidate.length).fill(false);
  const q: number[] = [];
  for (let i = 0; i < query.length; i++) {
    let at = -1;
    for (let j = 0; j < candidate.length; j++) {
      if (taken[j] || candidate[j] !== query[i]) continue;
      if (at === -1 || Math.abs(j - i) < Math.abs(at - i)) at = j;
    }
    if (at === -1) q.push(i);
    else {
      taken[at] = true;
      chosen.push({ query: [i], candidate: [at], similarity: 1 });
    }
  }
  const c: number[] = [];
  for (let j = 0; j < candidate.length; j++) if (!taken[j]) c.push(j);
  return { chosen, q, c };
}

/** Adjacent words among the places `left` of `many` that stand for a word of `single`: joined, or by their initials. */
function runs(many: readonly string[], left: readonly number[], single: readonly string[], places: readonly number[]) {
  const found: { run: number[]; place: number; similarity: number }[] = [];
  for (let start = 0; start < left.length - 1; start++) {
    let [before, joined] = ["", many[left[start]!]!];
    let initials = joined[0]!;
    for (let end = start + 1; end < left.length && left[end] === left[end - 1]! + 1; end++) {
      const length = end - start + 1;
      if (length > maxInitials) break;
      const last = many[left[end]!]!;
      [before, joined] = [joined, joined + last];
      initials += last[0]!;
      for (const place of places) {
        const word = single[place]!;
        const isShort = word.startsWith(before) && isAbbreviationOf(word.slice(before.length), last);
        const similarity = isShort
          ? joinedSimilarity
          : runSimilarity(word, length <= maxJoined ? joined : "", initials);
        if (similarity > 0) found.push({ run: left.slice(start, end + 1), place, similarity });
      }
    }
  }
  return found;
}

function runSimilarity(word: string, joined: string, initials: string): number {
  if (word === joined && word.length >= 3) return joinedSimilarity;
  if (initials.length >= 3 && word === initials) return initialsSimilarity;
  if (word.length < 4 || Math.abs(word.length - joined.length) > 3) return 0;
  const similarity = spellingSimilarity(joined, word);
  return similarity >= joinedLeast ? similarity * joinedSimilarity : 0;
}

function choose(possible: readonly Match[], query: Weighed, candidate: Weighed, chosen: Match[]): void {
  const gain = ({ query: q, candidate: c, similarity }: Match) =>
    similarity * similarity * (sum(q, query.weights) + sum(c, candidate.weights));
  const ranked = possible.map((match) => ({ match, gain: gain(match) })).sort((a, b) => b.gain - a.gain);
  const usedQuery = new Set<number>();
  const usedCandidate = new Set<number>();
  for (const { match } of ranked) {
    if (match.query.some((i) => usedQuery.has(i)) || match.candidate.some((i) => usedCandidate.has(i))) continue;
    for (const i of match.query) usedQuery.add(i);
    for (const i of match.candidate) usedCandidate.add(i);
    chosen.push(match);
  }
}

/** Adds up the weights at the given places. */
export function sum(indexes: readonly number[], weights: readonly number[]): number {
  let total = 0;
  for (const index of indexes) total += weights[index]!;
  return total;
}
