import { evidenceOf } from "../matching/calibrate.ts";
import { type NormalizedName, normalizeName } from "../matching/normalize-name.ts";
import { scoreName } from "../matching/score-name.ts";
import { formText } from "./corpus.ts";
import { createExpander, type ExpandedQuery, type Expansion } from "./expansions.ts";
import type { Names, Searcher } from "./names.ts";

/** An entity that may be meant, by the best of its names. */
export interface Hit {
  readonly id: string;
  /** The name's score, 0–1. */
  readonly score: number;
}

export interface SearchResult {
  /** Best first, by the evidence for them. */
  readonly hits: readonly Hit[];
  /** How many registry names hold each word of the query and of the hits' names, and how many there are. */
  readonly counts: ReadonlyMap<string, number>;
  readonly nameCount: number;
}

/** Postings looked at for one query, however common its words are. */
const POSTING_BUDGET = 8_000;
/** Of them for words that are common by themselves: pairs of them have told more before. */
const COMMON_BUDGET = 1_500;
/** Of one pair of common words. */
const PAIR_BUDGET = 2_000;
/** Names of the very words that were asked for. */
const MAX_EQUAL = 100;
/** Names compared word by word, and those of them that are scored. */
const MAX_COMPARED = 400;
const MAX_SCORED = 24;
/** A name far less alike than the best so far is not scored. */
const LEAST_SHARE = 0.55;
const LEVELS = 128;
const SAME_FORM = 0.02;
const MAX_PAIRED = 3;
const MAX_READINGS = 6;

/** Searches names in bounded work: rare words first, pairs of common ones, then the most alike are scored. */
export function createSearch(names: Names) {
  const expand = createExpander(names);
  const gather = createGatherer(names);
  return (query: NormalizedName, searcher: Searcher, limit: number): SearchResult => {
    const expanded = expand(query);
    const compared = gather(expanded, searcher).filter((name) => !names.isGone(name));
    const likeness = comparer(names, expanded);
    const form = formText(query);
    const ranked = compared
      .map((name) => ({ name, alike: likeness(name) + formBonus(form, names.formAt(name)) }))
      .sort((a, b) => b.alike - a.alike);
    const least = (ranked[0]?.alike ?? 0) * LEAST_SHARE;
    const counts = new Map<string, number>();
    const count = ({ coreTokens }: NormalizedName) => {
      for (const word of coreTokens) {
        if (counts.has(word)) continue;
        const id = names.dictionary.idOf(word);
        if (id !== undefined) counts.set(word, names.countOf(id));
      }
    };
    count(query);
    const best = new Map<string, Hit & { evidence: number }>();
    for (const { name, alike } of ranked.slice(0, MAX_SCORED)) {
      if (alike < least) break;
      const candidate = normalizeName(names.textAt(name));
      count(candidate);
      const scored = scoreName(query, candidate, names.idf);
      const [id, evidence] = [names.entityIdAt(name), evidenceOf(scored)];
      if (evidence > (best.get(id)?.evidence ?? Number.NEGATIVE_INFINITY)) {
        best.set(id, { id, score: scored.score, evidence });
      }
    }
    const hits = [...best.values()].sort((a, b) => b.evidence - a.evidence).slice(0, limit);
    return {
      hits: hits.map(({ id, score }) => ({ id, score })),
      counts,
      nameCount: names.registryNameCount,
    };
  };
}

/** Collects the names that share most with a query, by the weight of what they share. */
function createGatherer(names: Names) {
  let weights = new Float32Array(0);
  let touched = new Uint32Array(0);
  return ({ words, expansions, splits }: ExpandedQuery, searcher: Searcher): number[] => {
    if (weights.length < names.nameCount) {
      weights = new Float32Array(Math.ceil(names.nameCount * 1.05) + 64);
      touched = new Uint32Array(POSTING_BUDGET * 2);
    }
    let [count, greatest] = [0, 0];
    let budget = POSTING_BUDGET;
    const add = (weight: number) => (name: number) => {
      if (weights[name] === 0) touched[count++] = name;
      weights[name]! += weight;
      if (weights[name]! > greatest) greatest = weights[name]!;
    };
    const take = (looked: number) => {
      budget -= looked;
    };
    const { weightOf } = names;
    const limit = () => Math.min(PAIR_BUDGET, budget);
    const equal: number[] = [];
    for (const bag of likelyBags(names, { words, expansions, splits })) {
      names.withAll(bag, searcher, MAX_EQUAL, (name) => equal.push(name));
    }
    for (const [a, b] of commonPairs(names, expansions)) {
      const weight = a.likeness ** 2 * weightOf(a.word) + b.likeness ** 2 * weightOf(b.word);
      take(names.withPair(a.word, b.word, searcher, limit(), add(weight)));
    }
    for (const {
      words: [a, b],
    } of splits) {
      const weight = weightOf(a) + weightOf(b);
      if (names.isCommon(a) && names.isCommon(b)) {
        take(names.withPair(a, b, searcher, limit(), add(weight)));
      } else {
        const [rarer, other] = names.countOf(a) < names.countOf(b) ? [a, b] : [b, a];
        const addWith = add(weight);
        take(
          names.withWord(rarer, searcher, limit(), (name) => {
            if (includes(names.wordsAt(name), other)) addWith(name);
          }),
        );
      }
    }
    const rarestFirst = [...expansions].sort((a, b) => names.countOf(a.word) - names.countOf(b.word));
    for (const { word, likeness } of rarestFirst) {
      const most = names.isCommon(word) ? Math.min(budget, COMMON_BUDGET, MAX_COMPARED - count) : budget;
      if (most > 0) take(names.withWord(word, searcher, most, add(likeness ** 2 * weightOf(word))));
    }
    return [...new Set([...equal, ...heaviest(weights, touched.subarray(0, count), greatest)])];
  };
}

/** The names of most weight, `MAX_COMPARED` at most; sets the weights back to nothing. */
function heaviest(weights: Float32Array, touched: Uint32Array, greatest: number): number[] {
  const counts = new Uint32Array(LEVELS + 1);
  const levelOf = (name: number) => Math.floor((weights[name]! / greatest) * LEVELS);
  for (const name of touched) counts[levelOf(name)]!++;
  let [level, above] = [LEVELS, 0];
  while (level > 0 && above + counts[level]! <= MAX_COMPARED) above += counts[level--]!;
  // What does not fit is cut off in the level where there are too many.
  let left = MAX_COMPARED - above;
  const chosen: number[] = [];
  for (const name of touched) {
    const own = levelOf(name);
    if (own > level || (own === level && left-- > 0)) chosen.push(name);
    weights[name] = 0;
  }
  return chosen;
}

/** The words asked for, and the same with one of them read as what it may stand for, or as two written together. */
function likelyBags(names: Names, { words, expansions, splits }: ExpandedQuery): number[][] {
  const own = words.map((word) => names.dictionary.idOf(word));
  const bags: (number | undefined)[][] = [own];
  for (const place of words.keys()) {
    const others = expansions.filter(({ first, span, likeness }) => first === place && span === 1 && likeness < 1);
    others.sort((a, b) => b.likeness - a.likeness);
    for (const { word } of others.slice(0, MAX_READINGS)) bags.push(own.with(place, word));
  }
  for (const { words: pieces, position } of splits) bags.push(own.toSpliced(position, 1, ...pieces));
  return bags
    .filter((bag): bag is number[] => bag.length > 0 && bag.every((word) => word !== undefined))
    .map((bag) => [...new Set(bag)]);
}

/** Pairs of common words that two different words of the query may stand for, the most alike of each. */
function commonPairs(names: Names, expansions: readonly Expansion[]): [Expansion, Expansion][] {
  const byPlace = Map.groupBy(
    expansions.filter(({ word, span }) => span === 1 && names.isCommon(word)),
    ({ first }) => first,
  );
  const places = [...byPlace.values()].map((list) => list.sort((a, b) => b.likeness - a.likeness).slice(0, MAX_PAIRED));
  return places.flatMap((list, index) =>
    places.slice(index + 1).flatMap((others) => list.flatMap((a) => others.map((b): [Expansion, Expansion] => [a, b]))),
  );
}

/** How much of the weight of a query and of a name's words is shared, 0–1: a rough score for choosing what to score. */
function comparer(names: Names, { words, expansions, splits }: ExpandedQuery): (name: number) => number {
  const weights = words.map((word) => names.idf(word));
  const byWord = new Map<number, Expansion>();
  for (const expansion of expansions) {
    const known = byWord.get(expansion.word);
    if (!known || known.likeness < expansion.likeness) byWord.set(expansion.word, expansion);
  }
  const { weightOf } = names;
  const likenesses = new Float64Array(words.length);
  const levelled = new Float64Array(words.length);
  return (name) => {
    const own = names.wordsAt(name);
    likenesses.fill(0);
    for (let place = 0; place < words.length; place++) levelled[place] = weights[place]!;
    const match = (first: number, span: number, likeness: number, weight: number) => {
      for (let place = first; place < Math.min(words.length, first + span); place++) {
        if (likeness <= likenesses[place]!) continue;
        likenesses[place] = likeness;
        // A mistyped word weighs no more than the one it stands for.
        levelled[place] = span === 1 ? Math.min(weights[place]!, weight) : weights[place]!;
      }
    };
    let [total, shared] = [0, 0];
    for (let at = 0; at < own.length; at++) {
      const weight = weightOf(own[at]!);
      total += weight;
      const expansion = byWord.get(own[at]!);
      if (!expansion) continue;
      shared += expansion.likeness * weight;
      match(expansion.first, expansion.span, expansion.likeness, weight);
    }
    for (const { words: pieces, position } of splits) {
      if (!pieces.every((piece) => includes(own, piece))) continue;
      const weight = pieces.reduce((sum, piece) => sum + (byWord.has(piece) ? 0 : weightOf(piece)), 0);
      shared += weight;
      match(position, 1, 1, Math.max(weight, 0.1));
    }
    let queryTotal = 0;
    for (let place = 0; place < words.length; place++) {
      queryTotal += levelled[place]!;
      shared += likenesses[place]! * levelled[place]!;
    }
    return shared / Math.max(0.01, queryTotal + total);
  };
}

/** Settles which of many equal names are scored. */
function formBonus(asked: string, own: string): number {
  if (asked === own) return SAME_FORM;
  return asked === "" || own === "" ? SAME_FORM / 2 : 0;
}

function includes(list: ArrayLike<number>, value: number): boolean {
  for (let at = 0; at < list.length; at++) if (list[at] === value) return true;
  return false;
}
