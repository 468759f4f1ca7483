import { differenceWeights, equalNames, type NameScore } from "../names/score-name.ts";

type Features = Readonly<Partial<NameScore["features"]>>;

/** What the comparison with a name says about its candidate. */
export interface NameEvidence
  extends Pick<NameScore, "score" | "information">,
    Partial<Pick<NameScore, "hasAddedWord">> {
  features: Features;
}

/** The evidence that none of the registry's entities is meant is 0. */
const constant = 1.8;
const evidencePerLogOdds = 0.8;
/** Below an information of 1, other names may well share these words by chance; up to 2, less and less. */
const evidencePerMissingInformation = -6.5;
const evidencePerFurtherInformation = 4.2;
/** One difference is more likely an error than another name; several are more likely another name. */
const evidencePerFurtherDifference = -2.6;
/**
 * Beyond what they take from the score: people omit or add words more often than the score allows for, and a name with
 * another legal form is more often another company's.
 */
const evidencePerDifference = {
  absentForm: -1,
  otherForm: -1.8,
  extraWord: 2.2,
  commonWordsOnly: 3.9,
  doubt: -1.6,
  omission: -3.2,
  knownWord: -3,
} satisfies Features;
/**
 * Where each name has a word that the other lacks, the other words are no proof, however rare they are: they may be a
 * legal form that is not known as one. The greater the share of such words, the less evidence is left.
 */
const mostPerContradiction = -10;
/** A name with a word more is another company's as often as not. */
const mostWithAddedWord = -0.2;
const shareAboveMost = 0.05;
const evidenceWeights = Object.entries(evidencePerDifference) as [keyof Features, number][];

/** Scores outside these bounds count as the nearer one. */
const leastScore = 0.002;
const mostScore = 0.999;
const leastLogOdds = logOdds(leastScore);

/** Log-odds from the candidates' shares, and those observed in look-ups; straight lines between and beyond. */
const unlikely = { share: -2, observed: -2 };
const even = { share: 0, observed: 0.75 };
const beyondEven = 1.2;

/** Maximum confidence by name: an identifier that agrees is worth more. */
const mostByName = 0.99;

/**
 * How strongly a name speaks for its candidate, regardless of other candidates: how similar it is, how rare the shared
 * words are, and in what it differs.
 */
export function evidenceOf({ score, information, features, hasAddedWord }: NameEvidence): number {
  const scoreLogOdds = logOdds(Math.min(mostScore, Math.max(leastScore, score)));
  const differences = Object.values(features).filter((value) => value > 0).length;
  let evidence = generalEvidence(scoreLogOdds, information, differences);
  for (const [feature, weight] of evidenceWeights) evidence += weight * (features[feature] ?? 0);
  if (features.otherWord) return limited(evidence, mostPerContradiction * (features.contradiction ?? 0));
  return hasAddedWord ? limited(evidence, mostWithAddedWord) : evidence;
}

/** At most the given evidence; a small part of what is above keeps the order. */
function limited(evidence: number, most: number): number {
  return evidence > most ? most + shareAboveMost * (evidence - most) : evidence;
}

/** The features that are known from the numbers of the names' words. */
type RoughFeatures = Omit<
  NameScore["features"],
  "otherNumber" | "extraNumber" | "otherPlace" | "otherOrder" | "knownWord"
>;

/** Approximately `evidenceOf`, to choose which names to score. Written out: it runs hundreds of times in a look-up. */
export function roughEvidence(features: RoughFeatures, information: number): number {
  const { doubt, contradiction, omission, otherWord, extraWord, commonWordsOnly, otherForm, absentForm } = features;
  const taken =
    differenceWeights.doubt * doubt +
    differenceWeights.contradiction * contradiction +
    differenceWeights.omission * omission +
    differenceWeights.otherWord * otherWord +
    differenceWeights.extraWord * extraWord +
    differenceWeights.commonWordsOnly * commonWordsOnly +
    differenceWeights.otherForm * otherForm +
    differenceWeights.absentForm * absentForm;
  const shares = Number(doubt > 0) + Number(contradiction > 0) + Number(omission > 0) + Number(otherForm > 0);
  const differences = shares + otherWord + extraWord + commonWordsOnly + absentForm;
  const evidence =
    generalEvidence(Math.max(leastLogOdds, equalNames - taken), information, differences) +
    evidencePerDifference.doubt * doubt +
    evidencePerDifference.omission * omission +
    evidencePerDifference.extraWord * extraWord +
    evidencePerDifference.commonWordsOnly * commonWordsOnly +
    evidencePerDifference.otherForm * otherForm +
    evidencePerDifference.absentForm * absentForm;
  return otherWord > 0 ? limited(evidence, mostPerContradiction * contradiction) : evidence;
}

function generalEvidence(scoreLogOdds: number, information: number, differences: number): number {
  return (
    constant +
    evidencePerLogOdds * scoreLogOdds +
    evidencePerMissingInformation * Math.max(0, 1 - information) +
    evidencePerFurtherInformation * Math.max(0, Math.min(1, information - 1)) +
    evidencePerFurtherDifference * Math.max(0, differences - 1)
  );
}

/**
 * The confidence in each candidate by its name: the probability that it is meant, out of all candidates and none. It
 * rises with the evidence. docs/matching.md describes how the model was fitted to look-ups in synthetic registries, and
 * its quality.
 */
export function nameConfidences(names: readonly NameEvidence[]): number[] {
  const weights = names.map((name) => Math.exp(evidenceOf(name)));
  const total = weights.reduce((sum, weight) => sum + weight, 1);
  return weights.map((weight) => mostByName / (1 + Math.exp(-observed(Math.log(weight / (total - weight))))));
}

function observed(share: number): number {
  if (share <= unlikely.share) return share;
  if (share >= even.share) return even.observed + beyondEven * share;
  const way = (share - unlikely.share) / (even.share - unlikely.share);
  return unlikely.observed + way * (even.observed - unlikely.observed);
}

function logOdds(probability: number): number {
  return Math.log(probability / (1 - probability));
}
