import { isPlaceWord } from "../addresses/places.ts";
import { align, type Match, sum, type Weighed } from "./alignment.ts";
import { isParticle } from "./common-words.ts";
import { distinctiveIdf, type Idf } from "./idf.ts";
import { areOfOneClass, compareLegalForms, isLegalForm, type LegalFormOutcome } from "./legal-forms.ts";
import { type NormalizedName, sharesKey } from "./normalize-name.ts";

/** What tells for and against two names being of one organization, each from 0 for nothing; shares are of 1. */
export interface NameFeatures {
  /** The share of the names' weight that typing errors, abbreviations and the like leave in doubt. */
  doubt: number;
  /** The share of its weight that each name has in words which the other has not: they contradict. */
  contradiction: number;
  /** The share that only one of the names has beyond it: the other leaves it out. */
  omission: number;
  /** 1 where both names have a number that the other has not; where only one of them has. */
  otherNumber: number;
  extraNumber: number;
  /** 1 where both names have a place that the other has not. */
  otherPlace: number;
  /** 1 where both names have a word that the other has not, however common it is; where only one of them has. */
  otherWord: number;
  extraWord: number;
  /** 1 where the names share no distinctive word, and are not of the same words. */
  commonWordsOnly: number;
  /** 1 where the words stand in another order. */
  otherOrder: number;
  /** 1 where the legal forms contradict; half of it where they are of one kind ("Inc" and "Corp"). */
  otherForm: number;
  /** 1 where only one of the names has a legal form. */
  absentForm: number;
}

export interface NameComparison {
  features: NameFeatures;
  legalForm: LegalFormOutcome;
  /**
   * How telling the shared words are together: from 1 on, no two names of the corpus would share them by chance. Words
   * that are only alike tell less, since more names are alike than equal.
   */
  information: number;
  /** Words that stand for each other, as "a" or "a~b". */
  shared: string[];
  /** Words that only one of the names has. */
  onlyInQuery: string[];
  onlyInCandidate: string[];
}

const minorWeight = 0.05;
const qualifierFactor = 0.2;
/** From here on a word is no particle, and none of a qualifier. */
const wordWeight = 0.21;
const goodMatch = 0.7;
const isNumber = (word: string) => /\d/.test(word);

/** Compares two names word by word, the words weighed by how telling they are. */
export function compareNames(query: NormalizedName, candidate: NormalizedName, idf: Idf): NameComparison {
  const legalForm = compareLegalForms(query.legalForms, candidate.legalForms);
  const forms = formFeatures(query.legalForms, candidate.legalForms);
  if (sharesKey(query, candidate)) {
    const features = { ...noDoubt, ...forms };
    const { coreTokens: shared } = candidate;
    const information = shared.reduce((total, word) => total + idf(word), 0);
    return { features, legalForm, information, shared, onlyInQuery: [], onlyInCandidate: [] };
  }
  const weighed = [weigh(query, idf), weigh(candidate, idf)] as const;
  const matches = align(...weighed);
  const [a, b] = levelled(...weighed, matches);
  const left = leftOver(a, b, matches);
  return {
    features: { ...wordFeatures(a, b, matches, left, idf), ...forms },
    legalForm,
    information: informationOf(candidate, matches, idf),
    shared: matches.map((match) => describe(a, b, match)),
    onlyInQuery: left.query.map((index) => a.words[index]!),
    onlyInCandidate: left.candidate.map((index) => b.words[index]!),
  };
}

const noDoubt = {
  doubt: 0,
  contradiction: 0,
  omission: 0,
  otherNumber: 0,
  extraNumber: 0,
  otherPlace: 0,
  otherWord: 0,
  extraWord: 0,
  commonWordsOnly: 0,
  otherOrder: 0,
};

interface LeftOver {
  query: number[];
  candidate: number[];
}

function wordFeatures(a: Weighed, b: Weighed, matches: readonly Match[], left: LeftOver, idf: Idf): typeof noDoubt {
  const [total, otherTotal] = [totalWeight(a), totalWeight(b)];
  const share = sum(left.query, a.weights) / total;
  const otherShare = sum(left.candidate, b.weights) / otherTotal;
  const numbers = kindOf(isNumber, a, b, left);
  const words = Number(hasWord(a, left.query)) + Number(hasWord(b, left.candidate));
  const places = kindOf(isPlaceWord, a, b, left);
  return {
    doubt: doubtOf(a, b, matches) / (total + otherTotal),
    contradiction: Math.min(share, otherShare),
    omission: Math.abs(share - otherShare),
    otherNumber: Number(numbers === 2),
    extraNumber: Number(numbers === 1),
    otherPlace: Number(places === 2),
    otherWord: Number(words === 2),
    extraWord: Number(words === 1),
    commonWordsOnly: Number(!isComplete(a, b, matches, left) && !sharesDistinctiveWord(b, matches, idf)),
    otherOrder: Number(!isInOrder(matches)),
  };
}

/** What the legal forms of two names tell against them. */
export type FormFeatures = Pick<NameFeatures, "otherForm" | "absentForm">;

export function formFeatures(a: readonly string[], b: readonly string[]): FormFeatures {
  const outcome = compareLegalForms(a, b);
  return {
    otherForm: outcome === "contradicts" ? (areOfOneClass(a, b) ? 0.5 : 1) : 0,
    absentForm: Number(outcome === "absent"),
  };
}

/** Particles, and what qualifies a name ("…, Inc., a Delaware corporation"), weigh little. */
function weigh({ coreTokens, qualifierFrom }: NormalizedName, idf: Idf): Weighed {
  const weights = coreTokens.map((word, index) => {
    if (isParticle(word) || isLegalForm(word)) return minorWeight;
    return Math.max(minorWeight, idf(word)) * (index >= qualifierFrom ? qualifierFactor : 1);
  });
  return { words: coreTokens, weights };
}

/** A mistyped word is rare by its typing error: it weighs no more than the word it stands for. */
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

function doubtOf(a: Weighed, b: Weighed, matches: readonly Match[]): number {
  let doubt = 0;
  for (const { query, candidate, similarity } of matches) {
    if (similarity < 1) doubt += (1 - similarity) * (sum(query, a.weights) + sum(candidate, b.weights));
  }
  return doubt;
}

function informationOf({ coreTokens }: NormalizedName, matches: readonly Match[], idf: Idf): number {
  let information = 0;
  for (const { candidate, similarity } of matches) {
    const certainty = Math.max(0, 2 * similarity - 1);
    for (const index of candidate) information += certainty * idf(coreTokens[index]!);
  }
  return information;
}

/** On how many sides words of a kind are left over, those of a qualifier aside. */
function kindOf(isOfKind: (word: string) => boolean, a: Weighed, b: Weighed, left: LeftOver): number {
  const has = (name: Weighed, indexes: readonly number[]) =>
    Number(indexes.some((index) => isOfKind(name.words[index]!)));
  return has(a, left.query) + has(b, left.candidate);
}

/** True where every word of either name has its counterpart, so that at most typing errors differ. */
function isComplete(a: Weighed, b: Weighed, matches: readonly Match[], left: LeftOver): boolean {
  return !hasWord(a, left.query) && !hasWord(b, left.candidate) && matches.every(isGood);
}

function isGood({ similarity }: Match): boolean {
  return similarity >= goodMatch;
}

function hasWord(name: Weighed, indexes: readonly number[]): boolean {
  return indexes.some((index) => name.weights[index]! >= wordWeight);
}

function sharesDistinctiveWord(candidate: Weighed, matches: readonly Match[], idf: Idf): boolean {
  const isDistinctive = (index: number) =>
    candidate.weights[index]! > minorWeight && idf(candidate.words[index]!) >= distinctiveIdf;
  return matches.some(
    (match) => match.similarity >= goodMatch && (match.candidate.length > 1 || match.candidate.some(isDistinctive)),
  );
}

function isInOrder(matches: readonly Match[]): boolean {
  const byQuery = [...matches].sort((a, b) => a.query[0]! - b.query[0]!);
  return byQuery.every((match, index) => index === 0 || byQuery[index - 1]!.candidate[0]! < match.candidate[0]!);
}

function leftOver(a: Weighed, b: Weighed, matches: readonly Match[]): LeftOver {
  const used = [new Array(a.words.length).fill(false), new Array(b.words.length).fill(false)] as const;
  for (const { query, candidate } of matches) {
    for (const index of query) used[0][index] = true;
    for (const index of candidate) used[1][index] = true;
  }
  const unused = (flags: readonly boolean[]) => [...flags.keys()].filter((index) => !flags[index]);
  return { query: unused(used[0]), candidate: unused(used[1]) };
}

function totalWeight(name: Weighed): number {
  return Math.max(
    minorWeight,
    name.weights.reduce((total, weight) => total + weight, 0),
  );
}

function describe(a: Weighed, b: Weighed, match: Match): string {
  const query = match.query.map((index) => a.words[index]!).join(" ");
  const candidate = match.candidate.map((index) => b.words[index]!).join(" ");
  return query === candidate ? query : `${query}~${candidate}`;
}
