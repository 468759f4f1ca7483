import { differenceWeights, equalNames, type NameScore } from "../names/score-name.ts";

/** What a name tells of a candidate. */
export type NameEvidence = Pick<NameScore, "score" | "information"> & {
  features: Readonly<Partial<NameScore["features"]>>;
};

/** Against nothing that the registry has being meant, whose evidence is 0. */
const constant = 1.8;
const evidencePerLogOdds = 0.8;
/** Below an information of 1, names that share these words by chance are likely; up to 2, less and less. */
const evidencePerMissingInformation = -6.5;
const evidencePerFurtherInformation = 4.2;
/** Somebody's one error is likelier than another name that differs in one thing; with two it is the other way round. */
const evidencePerFurtherDifference = -2.6;
/**
 * Beside what it took from the score: people leave words out, or add them, more often than that tells, and a name in
 * another legal form is more often another company's.
 */
const evidencePerDifference = {
  absentForm: -1,
  otherForm: -1.8,
  extraWord: 2.2,
  commonWordsOnly: 3.9,
  doubt: -1.6,
  omission: -3.2,
} satisfies Partial<NameScore["features"]>;
const weighed = Object.entries(evidencePerDifference) as [keyof NameScore["features"], number][];

/** A score below the one says no more than it does, nor one above the other. */
const leastScore = 0.002;
const mostScore = 0.999;
const leastLogOdds = logOdds(leastScore);

/** Log-odds as the candidates' shares give them, and as look-ups bear them out; straight lines between and beyond. */
const unlikely = { share: -2, borneOut: -2 };
const even = { share: 0, borneOut: 0.75 };
const beyondEven = 1.2;

/** A name alone is no proof: an identifier that agrees is worth more. */
const mostByName = 0.99;

/**
 * How strongly a name speaks for its candidate, without a look at the others: how alike it is, how telling what it
 * shares is, and in what ways it differs.
 */
export function evidenceOf({ score, information, features }: NameEvidence): number {
  const differences = Object.values(features).filter((value) => value > 0).length;
  let evidence = evidenceBesideDifferences(
    logOdds(Math.min(mostScore, Math.max(leastScore, score))),
    information,
    differences,
  );
  for (const [difference, weight] of weighed) evidence += weight * (features[difference] ?? 0);
  return evidence;
}

function evidenceBesideDifferences(scoreLogOdds: number, information: number, differences: number): number {
  return (
    constant +
    evidencePerLogOdds * scoreLogOdds +
    evidencePerMissingInformation * Math.max(0, 1 - information) +
    evidencePerFurtherInformation * Math.max(0, Math.min(1, information - 1)) +
    evidencePerFurtherDifference * Math.max(0, differences - 1)
  );
}

/** What is known of two names without their text. */
export interface RoughComparison {
  /** As the features of these names, 0–1. */
  doubt: number;
  commonWordsOnly: number;
  otherForm: number;
  absentForm: number;
  /** The share of its weight that each name has in words which the other has not. */
  queryLeft: number;
  nameLeft: number;
  information: number;
}

/** About what `evidenceOf` comes to; numbers, places and the order of words aside. For choosing what to score. */
export function roughEvidence(compared: RoughComparison): number {
  const { doubt, commonWordsOnly, otherForm, absentForm, queryLeft, nameLeft, information } = compared;
  const contradiction = Math.min(queryLeft, nameLeft);
  const omission = Math.abs(queryLeft - nameLeft);
  const extraWord = contradiction === 0 && omission > 0 ? 1 : 0;
  const otherWord = contradiction > 0 ? 1 : 0;
  const taken =
    differenceWeights.doubt * doubt +
    differenceWeights.contradiction * contradiction +
    differenceWeights.omission * omission +
    differenceWeights.otherWord * otherWord +
    differenceWeights.extraWord * extraWord +
    differenceWeights.commonWordsOnly * commonWordsOnly +
    differenceWeights.otherForm * otherForm +
    differenceWeights.absentForm * absentForm;
  const differences =
    Number(doubt > 0) +
    Number(contradiction > 0) +
    Number(omission > 0) +
    extraWord +
    otherWord +
    commonWordsOnly +
    Number(otherForm > 0) +
    absentForm;
  return (
    evidenceBesideDifferences(Math.max(leastLogOdds, equalNames - taken), information, differences) +
    evidencePerDifference.doubt * doubt +
    evidencePerDifference.omission * omission +
    evidencePerDifference.extraWord * extraWord +
    evidencePerDifference.commonWordsOnly * commonWordsOnly +
    evidencePerDifference.otherForm * otherForm +
    evidencePerDifference.absentForm * absentForm
  );
}

/**
 * The confidence in each candidate by its name: the probability that it is the one that was meant, of all of them and of
 * none. All stand in the order of their evidence. It is a model of choice fitted to look-ups in made-up registries;
 * docs/matching.md tells how, and how well it holds.
 */
export function nameConfidences(names: readonly NameEvidence[]): number[] {
  const weights = names.map((name) => Math.exp(evidenceOf(name)));
  const total = weights.reduce((sum, weight) => sum + weight, 1);
  return weights.map((weight) => mostByName / (1 + Math.exp(-borneOut(Math.log(weight / (total - weight))))));
}

function borneOut(share: number): number {
  if (share <= unlikely.share) return share;
  if (share >= even.share) return even.borneOut + beyondEven * share;
  const way = (share - unlikely.share) / (even.share - unlikely.share);
  return unlikely.borneOut + way * (even.borneOut - unlikely.borneOut);
}

function logOdds(probability: number): number {
  return Math.log(probability / (1 - probability));
}
