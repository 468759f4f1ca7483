import { type FormFeatures, formFeatures } from "../matching/names/compare-names.ts";
import { distinctiveIdf } from "../matching/names/idf.ts";
import { MAX_WORDS, wordsOf } from "../matching/names/name-keys.ts";
import type { NormalizedName } from "../matching/names/normalize-name.ts";
import { scoreName } from "../matching/names/score-name.ts";
import { evidenceOf, roughEvidence } from "../matching/score/calibrate.ts";
import { formText } from "./corpus.ts";
import { createExpander, type ExpandedQuery, type Expansion, JOINED } from "./expansions.ts";
import type { Names, VisitRun } from "./names.ts";
import { isPlain } from "./plain-name.ts";
import { createTally } from "./tally.ts";

/** An entity that may be meant, by the best of its names. */
export interface Hit {
  readonly id: string;
  /** The name's score, 0–1. */
  readonly score: number;
  /** See `evidenceOf`. */
  readonly evidence: number;
}

export interface SearchResult {
  /** Best first, by evidence. */
  readonly hits: readonly Hit[];
  /** Number of registry names with each word of the query and of the hits' names. */
  readonly counts: ReadonlyMap<string, number>;
  /** Number of registry names. */
  readonly nameCount: number;
}

/** Maximum number of postings examined for one query. */
const POSTING_BUDGET = 8_000;
/** The part of it for common words by themselves: pairs of them were examined before. */
const COMMON_BUDGET = 1_500;
/** Additional postings of common words, only to weigh names found by other words. */
const KNOWN_BUDGET = 40_000;
/** Maximum number of postings examined for one pair of common words. */
const PAIR_BUDGET = 2_000;
/** Maximum number of names with exactly the query's words that are examined, and that are taken. */
const BAG_BUDGET = 4_000;
const MAX_EQUAL = 100;
/** Maximum number of names compared word by word, and of those scored. */
const MAX_COMPARED = 400;
const MAX_SCORED = 24;
/** A name with this much less evidence than the best is not scored. */
const CHANCELESS = 9;
/** Evidence lost where only one of two names is plain. */
const OTHERWISE_PLAIN = 0.5;
const LEAST_WEIGHT = 0.05;
const GOOD_LIKENESS = 0.7;
/** Lowest bits of words' numbers, which distinguish most words. */
const MASK = 1_023;
const MAX_PAIRED = 3;
const MAX_READINGS = 6;

/** Searches names in bounded work: finds names by rare words and pairs of common ones, then scores the most similar. */
export function createSearch(names: Names) {
  const expand = createExpander(names);
  const gather = createGatherer(names);
  return (query: NormalizedName, organizationId: string, limit: number): SearchResult => {
    const expanded = expand(query);
    const compared = gather(expanded, query, organizationId).filter((name) => !names.isGone(name));
    const best = new Map<string, Hit & { name: NormalizedName }>();
    for (const number of mostLikely(compared, comparer(names, expanded, query))) {
      const name = names.normalizedAt(number);
      const scored = scoreName(query, name, names.idf);
      const [id, evidence] = [names.entityIdAt(number), evidenceOf(scored)];
      if (evidence > (best.get(id)?.evidence ?? Number.NEGATIVE_INFINITY)) {
        best.set(id, { id, score: scored.score, evidence, name });
      }
    }
    const hits = [...best.values()].sort((a, b) => b.evidence - a.evidence).slice(0, limit);
    return {
      hits: hits.map(({ name: _, ...hit }) => hit),
      counts: countsOf(names, [query, ...hits.map(({ name }) => name)]),
      nameCount: names.registryNameCount,
    };
  };
}

function countsOf(names: Names, all: readonly NormalizedName[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of all.flatMap(({ coreTokens }) => coreTokens)) {
    const id = names.dictionary.idOf(word);
    if (id !== undefined) counts.set(word, names.countOf(id));
  }
  return counts;
}

/** The names to score: those with the most evidence, except where the best has far more. */
function mostLikely(compared: readonly number[], evidenceFor: (name: number) => number): number[] {
  const evidence = Float64Array.from(compared, evidenceFor);
  const sorted = evidence.toSorted();
  const least = Math.max((sorted.at(-1) ?? 0) - CHANCELESS, sorted.at(-MAX_SCORED) ?? Number.NEGATIVE_INFINITY);
  const above = compared.filter((_, index) => evidence[index]! > least);
  const level = compared.filter((_, index) => evidence[index] === least);
  return [...above, ...level.slice(0, MAX_SCORED - above.length)];
}

/** Finds the names that share most with a query, by the weight of the shared words. */
function createGatherer(names: Names) {
  const tally = createTally(POSTING_BUDGET);
  const { weightOf } = names;
  return (expanded: ExpandedQuery, query: NormalizedName, organizationId: string): number[] => {
    const { expansions, splits } = expanded;
    let budget = POSTING_BUDGET;
    const visitPair = (a: number, b: number, weight: number) => {
      const limit = Math.min(PAIR_BUDGET, budget);
      budget -= names.withPair(a, b, organizationId, limit, (name) => tally.add(name, weight));
    };
    const isSimilar = sameTraits(names, query);
    const equal: number[] = [];
    const others: number[] = [];
    let bagBudget = BAG_BUDGET;
    for (const bag of likelyBags(names, expanded)) {
      const take = (name: number) => (isSimilar(name) ? equal : others).push(name);
      bagBudget -= names.withAll(bag, organizationId, bagBudget, take);
    }
    equal.splice(MAX_EQUAL);
    equal.push(...others.slice(0, MAX_EQUAL - equal.length));
    for (const [a, b] of commonPairs(names, expansions)) {
      visitPair(a.word, b.word, a.likeness ** 2 * weightOf(a.word) + b.likeness ** 2 * weightOf(b.word));
    }
    for (const { words } of splits) {
      const [a, b] = words;
      const weight = weightOf(a) + weightOf(b);
      if (names.isCommon(a) && names.isCommon(b)) visitPair(a, b, weight);
      else {
        const [rarer, other] = names.countOf(a) < names.countOf(b) ? [a, b] : [b, a];
        const addWith: VisitRun = (list, start, end) => {
          for (let at = start; at < end; at++) if (names.holds(list[at]!, other)) tally.add(list[at]!, weight);
        };
        budget -= names.withWord(rarer, organizationId, Math.min(PAIR_BUDGET, budget), addWith);
      }
    }
    const rarestFirst = [...expansions].sort((a, b) => names.countOf(a.word) - names.countOf(b.word));
    let knownBudget = KNOWN_BUDGET;
    for (const { word, likeness } of rarestFirst) {
      const weight = likeness ** 2 * weightOf(word);
      if (names.isCommon(word) && tally.count >= MAX_COMPARED) {
        // There are enough names: a common word only shows which of them are more similar.
        const addToKnown: VisitRun = (list, start, end) => {
          for (let at = start; at < end; at++) tally.addToKnown(list[at]!, weight);
        };
        knownBudget -= names.withWord(word, organizationId, knownBudget, addToKnown);
        continue;
      }
      const limit = names.isCommon(word) ? Math.min(budget, COMMON_BUDGET, MAX_COMPARED - tally.count) : budget;
      const addAll: VisitRun = (list, start, end) => {
        for (let at = start; at < end; at++) tally.add(list[at]!, weight);
      };
      budget -= names.withWord(word, organizationId, limit, addAll);
    }
    return [...new Set([...equal, ...tally.takeHeaviest(MAX_COMPARED)])];
  };
}

/** The words of the query, and the same with one of them replaced by what it may mean, or split in two. */
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

/** Pairs of common words that may be meant by two words of the query, only the most similar for each. */
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

/** True for names with the legal forms of the query that are plain where the query is. */
function sameTraits(names: Names, query: NormalizedName): (name: number) => boolean {
  const form = formText(query);
  const isQueryPlain = isPlain(query, wordsOf(query));
  return (name) => {
    const traits = names.traitsAt(name);
    return traits.form === form && traits.isPlain === isQueryPlain;
  };
}

/** Estimates the evidence for a name from the numbers of its words. */
function comparer(
  names: Names,
  { words, expansions, splits }: ExpandedQuery,
  query: NormalizedName,
): (name: number) => number {
  const weights = Float64Array.from(words, (word) => Math.max(LEAST_WEIGHT, names.idf(word)));
  const byWord = new Map<number, Expansion>();
  // Most words of the names are not among the expansions: this shows it without a look into the map.
  const mayBe = new Uint8Array(MASK + 1);
  for (const expansion of expansions) {
    const known = byWord.get(expansion.word);
    if (!known || known.likeness < expansion.likeness) byWord.set(expansion.word, expansion);
    mayBe[expansion.word & MASK] = 1;
  }
  const { weightOf } = names;
  const isQueryPlain = isPlain(query, words);
  const formsOf = formComparer(query);
  const own = new Uint32Array(MAX_WORDS);
  const likenesses = new Float64Array(words.length);
  const levelled = new Float64Array(words.length);
  const match = (first: number, span: number, likeness: number, weight: number) => {
    for (let place = first; place < Math.min(words.length, first + span); place++) {
      if (likeness <= likenesses[place]!) continue;
      likenesses[place] = likeness;
      // A mistyped word weighs no more than the word it stands for.
      levelled[place] = span === 1 ? Math.min(weights[place]!, weight) : weights[place]!;
    }
  };
  return (name) => {
    const count = names.readWords(name, own);
    for (let place = 0; place < words.length; place++) {
      likenesses[place] = 0;
      levelled[place] = weights[place]!;
    }
    let [total, left, doubt, information, isDistinctive] = [0, 0, 0, 0, false];
    const share = (likeness: number, weight: number) => {
      doubt += (1 - likeness) * weight;
      information += Math.max(0, 2 * likeness - 1) * weight;
      if (weight >= distinctiveIdf && likeness >= GOOD_LIKENESS) isDistinctive = true;
    };
    for (let at = 0; at < count; at++) {
      const word = own[at]!;
      const weight = Math.max(LEAST_WEIGHT, weightOf(word));
      total += weight;
      const expansion = mayBe[word & MASK] === 1 ? byWord.get(word) : undefined;
      if (expansion) {
        share(expansion.likeness, weight);
        match(expansion.first, expansion.span, expansion.likeness, weight);
      } else left += weight;
    }
    for (const { words: pieces, position } of splits) {
      if (!names.holds(name, pieces[0]) || !names.holds(name, pieces[1])) continue;
      let weight = 0;
      for (const piece of pieces) if (!byWord.has(piece)) weight += Math.max(LEAST_WEIGHT, weightOf(piece));
      left -= weight;
      share(JOINED, weight);
      match(position, 1, JOINED, Math.max(weight, LEAST_WEIGHT));
    }
    let [queryTotal, queryLeft] = [0, 0];
    for (let place = 0; place < words.length; place++) {
      queryTotal += levelled[place]!;
      if (likenesses[place] === 0) queryLeft += levelled[place]!;
      else doubt += (1 - likenesses[place]!) * levelled[place]!;
    }
    const traits = names.traitsAt(name);
    const { otherForm, absentForm } = formsOf(traits.form);
    const queryShare = queryLeft / Math.max(LEAST_WEIGHT, queryTotal);
    const nameShare = Math.max(0, left) / Math.max(LEAST_WEIGHT, total);
    const contradiction = Math.min(queryShare, nameShare);
    const omission = Math.abs(queryShare - nameShare);
    const features = {
      doubt: doubt / Math.max(LEAST_WEIGHT, queryTotal + total),
      contradiction,
      omission,
      otherWord: Number(contradiction > 0),
      extraWord: Number(contradiction === 0 && omission > 0),
      commonWordsOnly: Number(!isDistinctive && queryShare + nameShare > 0),
      otherForm,
      absentForm,
    };
    return roughEvidence(features, information) - (traits.isPlain === isQueryPlain ? 0 : OTHERWISE_PLAIN);
  };
}

/** Compares legal forms, given as `formText`, with those of a query, each combination once. */
function formComparer({ legalForms }: NormalizedName): (form: string) => FormFeatures {
  const known = new Map<string, FormFeatures>();
  return (form) => {
    const features = known.get(form) ?? formFeatures(legalForms, form === "" ? [] : form.split(" "));
    known.set(form, features);
    return features;
  };
}
