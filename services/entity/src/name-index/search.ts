import { type FormFeatures, formFeatures } from "../matching/names/compare-names.ts";
import { distinctiveIdf } from "../matching/names/idf.ts";
import type { NormalizedName } from "../matching/names/normalize-name.ts";
import { scoreName } from "../matching/names/score-name.ts";
import { evidenceOf, type RoughComparison, roughEvidence } from "../matching/score/calibrate.ts";
import { formText } from "./corpus.ts";
import { createExpander, type ExpandedQuery, type Expansion, JOINED } from "./expansions.ts";
import type { Names, Searcher, TellRun } from "./names.ts";
import { isPlain } from "./plain-name.ts";
import { createTally } from "./tally.ts";
import { MAX_WORDS, wordsOf } from "./terms.ts";

/** An entity that may be meant, by the best of its names. */
export interface Hit {
  readonly id: string;
  /** The name's score, 0–1. */
  readonly score: number;
  /** See `evidenceOf`. */
  readonly evidence: number;
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
/** Postings of common words looked at beyond that, only to weigh what was found by others. */
const KNOWN_BUDGET = 40_000;
/** Of one pair of common words. */
const PAIR_BUDGET = 2_000;
/** Names looked at, and taken, of the very words that were asked for. */
const BAG_BUDGET = 4_000;
const MAX_EQUAL = 100;
/** Names compared word by word, and those of them that are scored. */
const MAX_COMPARED = 400;
const MAX_SCORED = 24;
/** A name of so much less evidence than the best is not scored. */
const CHANCELESS = 9;
/** What another particle, or the like, takes from the evidence. */
const OTHERWISE_PLAIN = 0.5;
const LEAST_WEIGHT = 0.05;
const GOOD_LIKENESS = 0.7;
/** Of the numbers of words, by which most are told apart. */
const MASK = 1_023;
const MAX_PAIRED = 3;
const MAX_READINGS = 6;

/** Searches names in bounded work: rare words first, pairs of common ones, then the most alike are scored. */
export function createSearch(names: Names) {
  const expand = createExpander(names);
  const gather = createGatherer(names);
  return (query: NormalizedName, searcher: Searcher, limit: number): SearchResult => {
    const expanded = expand(query);
    const compared = gather(expanded, query, searcher).filter((name) => !names.isGone(name));
    const ranked = mostLikely(compared, comparer(names, expanded, query));
    const best = new Map<string, Hit & { name: NormalizedName }>();
    for (const number of ranked) {
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
  for (const { coreTokens } of all) {
    for (const word of coreTokens) {
      const id = counts.has(word) ? undefined : names.dictionary.idOf(word);
      if (id !== undefined) counts.set(word, names.countOf(id));
    }
  }
  return counts;
}

/** The names that are to be scored: those of most evidence, without any that the best leaves no chance. */
function mostLikely(compared: readonly number[], evidenceFor: (name: number) => number): number[] {
  const evidence = Float64Array.from(compared, evidenceFor);
  const sorted = evidence.toSorted();
  const least = Math.max((sorted.at(-1) ?? 0) - CHANCELESS, sorted.at(-MAX_SCORED) ?? Number.NEGATIVE_INFINITY);
  const above = compared.filter((_, index) => evidence[index]! > least);
  const level = compared.filter((_, index) => evidence[index] === least);
  return [...above, ...level.slice(0, MAX_SCORED - above.length)];
}

/** Collects the names that share most with a query, by the weight of what they share. */
function createGatherer(names: Names) {
  const tally = createTally(POSTING_BUDGET);
  return ({ words, expansions, splits }: ExpandedQuery, query: NormalizedName, searcher: Searcher): number[] => {
    let budget = POSTING_BUDGET;
    const add = (weight: number) => (name: number) => tally.add(name, weight);
    const take = (looked: number) => {
      budget -= looked;
    };
    const { weightOf } = names;
    const limit = () => Math.min(PAIR_BUDGET, budget);
    const isAlike = alikeBesideWords(names, query);
    const equal: number[] = [];
    const others: number[] = [];
    let bagBudget = BAG_BUDGET;
    for (const bag of likelyBags(names, { words, expansions, splits })) {
      const tell = (name: number) => (isAlike(name) ? equal : others).push(name);
      bagBudget -= names.withAll(bag, searcher, bagBudget, tell);
    }
    equal.splice(MAX_EQUAL);
    equal.push(...others.slice(0, MAX_EQUAL - equal.length));
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
        const addWith: TellRun = (list, start, end) => {
          for (let at = start; at < end; at++) if (names.holds(list[at]!, other)) tally.add(list[at]!, weight);
        };
        take(names.withWord(rarer, searcher, limit(), addWith));
      }
    }
    const rarestFirst = [...expansions].sort((a, b) => names.countOf(a.word) - names.countOf(b.word));
    let knownBudget = KNOWN_BUDGET;
    for (const { word, likeness } of rarestFirst) {
      const weight = likeness ** 2 * weightOf(word);
      if (names.isCommon(word) && tally.count >= MAX_COMPARED) {
        // There are enough: a common word only tells which of them are more alike.
        const addToKnown: TellRun = (list, start, end) => {
          for (let at = start; at < end; at++) tally.addToKnown(list[at]!, weight);
        };
        knownBudget -= names.withWord(word, searcher, knownBudget, addToKnown);
        continue;
      }
      const most = names.isCommon(word) ? Math.min(budget, COMMON_BUDGET, MAX_COMPARED - tally.count) : budget;
      const addAll: TellRun = (list, start, end) => {
        for (let at = start; at < end; at++) tally.add(list[at]!, weight);
      };
      take(names.withWord(word, searcher, most, addAll));
    }
    return [...new Set([...equal, ...tally.takeHeaviest(MAX_COMPARED)])];
  };
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

/** Has a name the legal forms of the query, and particles and the like where the query has some? */
function alikeBesideWords(names: Names, query: NormalizedName): (name: number) => boolean {
  const form = formText(query);
  const isQueryPlain = isPlain(query, wordsOf(query));
  return (name) => {
    const traits = names.traitsAt(name);
    return traits.form === form && traits.isPlain === isQueryPlain;
  };
}

/** The rough evidence for a name, by the numbers of its words alone. */
function comparer(
  names: Names,
  { words, expansions, splits }: ExpandedQuery,
  query: NormalizedName,
): (name: number) => number {
  const weights = Float64Array.from(words, (word) => Math.max(LEAST_WEIGHT, names.idf(word)));
  const byWord = new Map<number, Expansion>();
  // Most words of the names are none of the query's: that is told without asking the map.
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
  const compared = { ...nothingCompared };
  const match = (first: number, span: number, likeness: number, weight: number) => {
    for (let place = first; place < Math.min(words.length, first + span); place++) {
      if (likeness <= likenesses[place]!) continue;
      likenesses[place] = likeness;
      // A mistyped word weighs no more than the one it stands for.
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
    const forms = formsOf(traits.form);
    compared.doubt = doubt / Math.max(LEAST_WEIGHT, queryTotal + total);
    compared.queryLeft = queryLeft / Math.max(LEAST_WEIGHT, queryTotal);
    compared.nameLeft = Math.max(0, left) / Math.max(LEAST_WEIGHT, total);
    compared.information = information;
    compared.commonWordsOnly = isDistinctive || compared.queryLeft + compared.nameLeft === 0 ? 0 : 1;
    compared.otherForm = forms.otherForm;
    compared.absentForm = forms.absentForm;
    return roughEvidence(compared) - (traits.isPlain === isQueryPlain ? 0 : OTHERWISE_PLAIN);
  };
}

const nothingCompared: RoughComparison = {
  ...{ doubt: 0, commonWordsOnly: 0, otherForm: 0, absentForm: 0 },
  ...{ queryLeft: 0, nameLeft: 0, information: 0 },
};

/** Compares legal forms, given as `formText`, with those of a query; each combination once. */
function formComparer({ legalForms }: NormalizedName): (form: string) => FormFeatures {
  const known = new Map<string, FormFeatures>();
  return (form) => {
    const before = known.get(form);
    if (before) return before;
    const features = formFeatures(legalForms, form === "" ? [] : form.split(" "));
    known.set(form, features);
    return features;
  };
}
