import type { PartOutcome } from "../explanation.ts";
import { osaDistance } from "../osa-distance.ts";
import { isPlaceWord } from "../places.ts";
import { align, type Match, sum, type Weighed } from "./alignment.ts";
import { isOftenAdded, isParticle } from "./common-words.ts";
import { distinctiveIdf, type Idf } from "./idf.ts";
import { areOfOneClass, compareLegalForms, isLegalForm } from "./legal-forms.ts";
import { isOtherNative, type NormalizedName, sharesKey } from "./normalize-name.ts";

/** How two names differ; each feature is from 0 (no difference) to 1, shares are of the names' weight. */
export interface NameFeatures {
  /** The share that typing errors, abbreviations and the like leave in doubt. */
  doubt: number;
  /** The share of words that both names have beyond what they have in common. */
  contradiction: number;
  /** The share of words that only one of the names has beyond the contradiction: the other omits them. */
  omission: number;
  /** 1 where each name has a number that the other lacks; `extraNumber` where only one has. */
  otherNumber: number;
  extraNumber: number;
  /** 1 where each name has a place that the other lacks. */
  otherPlace: number;
  /** 1 where each name has a word that the other lacks, however common; `extraWord` where only one has. */
  otherWord: number;
  extraWord: number;
  /** 1 where the names share no distinctive word and do not consist of the same words. */
  commonWordsOnly: number;
  /** 1 where a word that seems mistyped is itself a word of other names: then it is more likely another word. */
  knownWord: number;
  /** 1 where the words are in another order. */
  otherOrder: number;
  /** 1 where the legal forms contradict, half of it where they are of one kind ("Inc" and "Corp"). */
  otherForm: number;
  /** 1 where only one of the names has a legal form. */
  absentForm: number;
}

export interface NameComparison {
  features: NameFeatures;
  legalForm: PartOutcome;
  /**
   * How rare the shared words are together: from 1 on, no two names of the corpus would share them by chance. Words that
   * are only similar count less, since more names are similar than equal.
   */
  information: number;
  /**
   * True where only the query has a further word, and one that says who or what a company is: people omit such words, but
   * rarely add one.
   */
  hasAddedWord: boolean;
  /** Words that stand for each other, as "a" or "a~b". */
  shared: string[];
  onlyInQuery: string[];
  onlyInCandidate: string[];
}

const minorWeight = 0.05;
const qualifierFactor = 0.2;
/** Words of at least this weight are neither particles nor part of a qualifier. */
const wordWeight = 0.21;
const goodMatch = 0.7;
/** Abbreviations, translations and joined words are at least so similar, typing errors less. */
const leastWritten = 0.95;

/** Compares two names word by word, the words weighed by how rare they are. */
export function compareNames(query: NormalizedName, candidate: NormalizedName, idf: Idf): NameComparison {
  const isEqual = sharesKey(query, candidate);
  const weighed = [weigh(query, idf), weigh(candidate, idf)] as const;
  const matches = isEqual ? [] : align(...weighed);
  const [a, b] = levelled(...weighed, matches);
  const left = isEqual ? { query: [], candidate: [] } : leftOver(a, b, matches);
  const { coreTokens } = candidate;
  const features = {
    ...withNative(wordFeatures(a, b, matches, left, idf), query, candidate),
    ...formFeatures(query.legalForms, candidate.legalForms),
  };
  return {
    features,
    hasAddedWord: features.extraWord > 0 && left.query.some((index) => isAddition(a, index)),
    legalForm: compareLegalForms(query.legalForms, candidate.legalForms),
    information: isEqual
      ? coreTokens.reduce((total, word) => total + idf(word), 0)
      : informationOf(coreTokens, matches, idf),
    shared: isEqual ? coreTokens : matches.map((match) => describe(a, b, match)),
    onlyInQuery: left.query.map((index) => a.words[index]!),
    onlyInCandidate: left.candidate.map((index) => b.words[index]!),
  };
}

/** The places of the words that have no counterpart in the other name. */
interface LeftOver {
  query: number[];
  candidate: number[];
}

type WordFeatures = Omit<NameFeatures, keyof FormFeatures>;

function wordFeatures(a: Weighed, b: Weighed, matches: readonly Match[], left: LeftOver, idf: Idf): WordFeatures {
  const [total, otherTotal] = [totalWeight(a), totalWeight(b)];
  const share = sum(left.query, a.weights) / total;
  const otherShare = sum(left.candidate, b.weights) / otherTotal;
  /** In how many of the two names such a word is left over. */
  const namesWith = (isSuch: (name: Weighed, index: number) => boolean) =>
    Number(left.query.some((index) => isSuch(a, index))) + Number(left.candidate.some((index) => isSuch(b, index)));
  const numbers = namesWith(({ words }, index) => /\d/.test(words[index]!));
  const places = namesWith(({ words }, index) => isPlaceWord(words[index]!));
  const words = namesWith(({ weights }, index) => weights[index]! >= wordWeight);
  // At most typing errors differ.
  const isComplete = words === 0 && matches.every(({ similarity }) => similarity >= goodMatch);
  return {
    doubt: doubtOf(a, b, matches) / (total + otherTotal),
    contradiction: Math.min(share, otherShare),
    omission: Math.abs(share - otherShare),
    otherNumber: Number(numbers === 2),
    extraNumber: Number(numbers === 1),
    otherPlace: Number(places === 2),
    otherWord: Number(words === 2),
    extraWord: Number(words === 1),
    commonWordsOnly: Number(!isComplete && !sharesDistinctiveWord(b, matches, idf)),
    knownWord: Number(matches.some((match) => isKnownWord(a, b, match, idf))),
    otherOrder: Number(!isInOrder(matches)),
  };
}

/** Where two scripts without spaces differ in a letter, that is as much as a word, whatever it sounds like. */
function withNative(features: WordFeatures, query: NormalizedName, candidate: NormalizedName): WordFeatures {
  const [a, b] = [query.native, candidate.native];
  if (!isOtherNative(query, candidate) || a.includes(b) || b.includes(a)) return features;
  const length = Math.max(a.length, b.length);
  const share = osaDistance(a, b, length) / length;
  return { ...features, otherWord: 1, contradiction: Math.max(features.contradiction, share) };
}

export type FormFeatures = Pick<NameFeatures, "otherForm" | "absentForm">;

export function formFeatures(a: readonly string[], b: readonly string[]): FormFeatures {
  const outcome = compareLegalForms(a, b);
  return {
    otherForm: outcome === "contradicts" ? (areOfOneClass(a, b) ? 0.5 : 1) : 0,
    absentForm: Number(outcome === "absent"),
  };
}

/** Weighs the words of a name; particles and qualifiers ("…, Inc., a Delaware corporation") weigh little. */
function weigh({ coreTokens, qualifierFrom }: NormalizedName, idf: Idf): Weighed {
  const weights = coreTokens.map((word, index) => {
    if (isParticle(word) || isLegalForm(word)) return minorWeight;
    return Math.max(minorWeight, idf(word)) * (index >= qualifierFrom ? qualifierFactor : 1);
  });
  return { words: coreTokens, weights };
}

/** Gives each mistyped word at most the weight of the word it stands for: it is rare only because of the error. */
function levelled(a: Weighed, b: Weighed, matches: readonly Match[]): [Weighed, Weighed] {
  if (matches.every(({ similarity }) => similarity === 1)) return [a, b];
  const [own, other] = [[...a.weights], [...b.weights]];
  for (const { query, candidate } of matches) {
    if (query.length > 1 || candidate.length > 1) continue;
    const least = Math.min(own[query[0]!]!, other[candidate[0]!]!);
    own[query[0]!] = least;
    other[candidate[0]!] = least;
  }
  return [
    { words: a.words, weights: own },
    { words: b.words, weights: other },
  ];
}

function isAddition({ words, weights }: Weighed, index: number): boolean {
  return weights[index]! >= wordWeight && !isOftenAdded(words[index]!);
}

function doubtOf(a: Weighed, b: Weighed, matches: readonly Match[]): number {
  let doubt = 0;
  for (const { query, candidate, similarity } of matches) {
    if (similarity < 1) doubt += (1 - similarity) * (sum(query, a.weights) + sum(candidate, b.weights));
  }
  return doubt;
}

function informationOf(words: readonly string[], matches: readonly Match[], idf: Idf): number {
  let information = 0;
  for (const { candidate, similarity } of matches) {
    const certainty = Math.max(0, 2 * similarity - 1);
    for (const index of candidate) information += certainty * idf(words[index]!);
  }
  return information;
}

function sharesDistinctiveWord(candidate: Weighed, matches: readonly Match[], idf: Idf): boolean {
  const isDistinctive = (index: number) =>
    candidate.weights[index]! > minorWeight && idf(candidate.words[index]!) >= distinctiveIdf;
  return matches.some(
    (match) => match.similarity >= goodMatch && (match.candidate.length > 1 || match.candidate.some(isDistinctive)),
  );
}

/** True where two words differ by a typing error, and other names have the first word as well. */
function isKnownWord(a: Weighed, b: Weighed, { query, candidate, similarity }: Match, idf: Idf): boolean {
  if (similarity >= leastWritten || query.length > 1 || candidate.length > 1) return false;
  const [word, other] = [a.words[query[0]!]!, b.words[candidate[0]!]!];
  return !word.startsWith(other) && !other.startsWith(word) && idf(word) < 1 && idf(other) < 1;
}

function isInOrder(matches: readonly Match[]): boolean {
  const byQuery = [...matches].sort((a, b) => a.query[0]! - b.query[0]!);
  return byQuery.every((match, index) => index === 0 || byQuery[index - 1]!.candidate[0]! < match.candidate[0]!);
}

function leftOver(a: Weighed, b: Weighed, matches: readonly Match[]): LeftOver {
  const usedInA = matches.flatMap(({ query }) => query);
  const usedInB = matches.flatMap(({ candidate }) => candidate);
  return {
    query: [...a.words.keys()].filter((index) => !usedInA.includes(index)),
    candidate: [...b.words.keys()].filter((index) => !usedInB.includes(index)),
  };
}

function totalWeight({ words, weights }: Weighed): number {
  return Math.max(minorWeight, sum([...words.keys()], weights));
}

function describe(a: Weighed, b: Weighed, match: Match): string {
  const query = match.query.map((index) => a.words[index]!).join(" ");
  const candidate = match.candidate.map((index) => b.words[index]!).join(" ");
  return query === candidate ? query : `${query}~${candidate}`;
}
