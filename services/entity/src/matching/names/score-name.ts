import { compareNames, type NameComparison, type NameFeatures } from "./compare-names.ts";
import type { Idf } from "./idf.ts";
import { cutForm, isFormBefore, mistypedForm, withoutAttachedForm } from "./legal-forms.ts";
import type { NormalizedName } from "./normalize-name.ts";

export interface NameScore extends NameComparison {
  /** The probability that a person would say the names are of one organization, 0–1; below 1 even for equal names. */
  score: number;
}

/** Log-odds of names without a difference. */
export const equalNames = 3.8;

/**
 * How much each difference lowers the log-odds: a logistic regression on pairs of names labelled by people and on
 * synthetic look-ups. docs/matching.md describes the fit and its quality.
 */
export const differenceWeights: Readonly<NameFeatures> = {
  doubt: 7.5,
  contradiction: 5.4,
  omission: 5.4,
  otherNumber: 3,
  extraNumber: 0.6,
  otherPlace: 3,
  otherWord: 2,
  extraWord: 2,
  commonWordsOnly: 1.4,
  otherOrder: 1.4,
  knownWord: 1,
  otherForm: 1.2,
  absentForm: 0.4,
};
const differences = Object.keys(differenceWeights) as (keyof NameFeatures)[];

const mistypedFormDoubt = 0.04;
/** How much the log-odds are lowered for one of several names in a text ("A dba B"). */
const alternativeName = 0.3;

/** Scores how similar two names are. Of a text with several names the best one counts. */
export function scoreName(query: NormalizedName, candidate: NormalizedName, idf: Idf): NameScore {
  let best = scored(query, candidate, idf, 0);
  if (query.alternatives.length === 0 && candidate.alternatives.length === 0) return best;
  for (const a of [query, ...query.alternatives]) {
    for (const b of [candidate, ...candidate.alternatives]) {
      if (a === query && b === candidate) continue;
      const other = scored(a, b, idf, alternativeName);
      if (other.score > best.score) best = other;
    }
  }
  return best;
}

/** The differences that lowered a score, in log-odds, weightiest first; none for equal names. */
export function weighDifferences(features: NameFeatures): { difference: keyof NameFeatures; weight: number }[] {
  return differences
    .map((difference) => ({ difference, weight: differenceWeights[difference] * features[difference] }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight);
}

function scored(query: NormalizedName, candidate: NormalizedName, idf: Idf, lowered: number): NameScore {
  const [a, b] = [withTypedForm(query, candidate), withTypedForm(candidate, query)];
  const compared = compareNames(a, b, idf);
  if (a.coreTokens.length === 0 || b.coreTokens.length === 0) return { ...compared, score: 0 };
  if (a !== query || b !== candidate) compared.features.doubt += mistypedFormDoubt;
  let logOdds = equalNames - lowered;
  for (const difference of differences) logOdds -= differenceWeights[difference] * compared.features[difference];
  return { ...compared, score: 1 / (1 + Math.exp(-logOdds)) };
}

/**
 * Recognizes the other name's legal form where it is the first word ("AB Lorwin"), mistyped or cut off as the last word,
 * or written without a space at the end of the last word; the name is then returned with that form.
 */
function withTypedForm(name: NormalizedName, other: NormalizedName): NormalizedName {
  const [first, last] = [name.coreTokens[0], name.coreTokens.at(-1)];
  if (first === undefined || last === undefined || name.legalForms.length > 0 || other.legalForms.length === 0)
    return name;
  const { legalForms } = other;
  if (name.coreTokens.length > 1 && isFormBefore(first, legalForms) && !other.coreTokens.includes(first))
    return withoutFirst(name, legalForms);
  if (other.coreTokens.includes(last)) return name;
  const bare = withoutAttachedForm(last, legalForms);
  if (bare !== undefined && other.coreTokens.includes(bare)) {
    const keys = name.keys.map((key) => key.slice(0, key.length - last.length + bare.length));
    return { ...name, key: keys[0]!, keys, coreTokens: [...name.coreTokens.slice(0, -1), bare], legalForms };
  }
  if (name.coreTokens.length < 2) return name;
  const typed = mistypedForm(last, legalForms) ? legalForms : cutForm(last, legalForms);
  if (!typed) return name;
  const keys = name.keys.map((key) => key.slice(0, key.lastIndexOf(" ")));
  return { ...name, key: keys[0]!, keys, coreTokens: name.coreTokens.slice(0, -1), legalForms: typed };
}

function withoutFirst(name: NormalizedName, legalForms: string[]): NormalizedName {
  const keys = name.keys.map((key) => key.slice(key.indexOf(" ") + 1));
  const qualifierFrom = Math.max(1, name.qualifierFrom - 1);
  return { ...name, key: keys[0]!, keys, coreTokens: name.coreTokens.slice(1), legalForms, qualifierFrom };
}
