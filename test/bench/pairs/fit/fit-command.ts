// Fits the weights of services/entity/src/matching/names/score-name.ts to labelled pairs and to made-up look-ups, and
// prints their F1 on pairs that were not used for the fit:
// node test/bench/pairs/fit/fit-command.ts FILE.csv [FILE.csv …]
import { compareNames, type NameFeatures } from "../../../../services/entity/src/matching/names/compare-names.ts";
import { generalIdf } from "../../../../services/entity/src/matching/names/idf.ts";
import { normalizeName } from "../../../../services/entity/src/matching/names/normalize-name.ts";
import { sameNameScore } from "../../../../services/entity/src/matching/names/score-name.ts";
import { qualityAt, seededRandom } from "../classification.ts";
import { readPairs } from "../pair-file.ts";
import { fitPenalties, predict, type Sample } from "./logistic.ts";
import { madeUpLookups } from "./made-up-lookups.ts";

const SEED = 11;
const SPLITS = 20;

/**
 * Bounds of the weights. Different numbers, places and extra words always contradict a match: we decided this, even if
 * labels say otherwise. A legal form counts little, since labels treat companies of one group as the same.
 */
const bounds: Readonly<Record<keyof NameFeatures, readonly [least: number, most: number]>> = {
  doubt: [0, 20],
  contradiction: [0, 20],
  omission: [0, 20],
  otherNumber: [3, 20],
  extraNumber: [0, 20],
  otherPlace: [1, 20],
  otherWord: [2, 20],
  extraWord: [1, 20],
  commonWordsOnly: [0, 20],
  knownWord: [0, 20],
  otherOrder: [0, 20],
  otherForm: [0.5, 1.2],
  absentForm: [0.2, 0.4],
};
const features = Object.keys(bounds) as (keyof NameFeatures)[];

/** Returns the samples of one source. All sources have the same total weight. */
function samplesOf(cases: readonly { features: NameFeatures; isMatch: boolean }[]): Sample[] {
  return cases.map(({ features: own, isMatch }) => ({
    features: features.map((feature) => own[feature]),
    isMatch,
    weight: 1 / cases.length,
  }));
}

function pairSamples(file: string): Sample[] {
  return samplesOf(
    readPairs(file).map(({ name1, name2, isMatch }) => ({
      features: compareNames(normalizeName(name1), normalizeName(name2), generalIdf).features,
      isMatch,
    })),
  );
}

const fit = (samples: readonly Sample[]) => fitPenalties(samples, Object.values(bounds));

function main(files: readonly string[]): void {
  const lookups = samplesOf(madeUpLookups(SEED));
  const sets = files.map(pairSamples);
  const all = fit([...sets.flat(), ...lookups]);
  console.log(`constant ${all.constant.toFixed(2)}`);
  for (const [index, weight] of all.weights.entries()) console.log(`${features[index]} ${weight.toFixed(2)}`);
  const random = seededRandom(SEED);
  const reached: number[][] = files.map(() => []);
  for (let split = 0; split < SPLITS; split++) {
    const halves = sets.map((set) => Map.groupBy(set, () => random() < 0.5));
    const known = fit([...halves.flatMap((half) => half.get(true) ?? []), ...lookups]);
    for (const [index, half] of halves.entries()) {
      const scored = (half.get(false) ?? []).map((each) => ({
        score: predict(known, each.features),
        isMatch: each.isMatch,
      }));
      reached[index]!.push(qualityAt(scored, sameNameScore).f1);
    }
  }
  for (const [index, file] of files.entries()) {
    const values = reached[index]!;
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const least = Math.min(...values);
    console.log(`${file}: F1 ${mean.toFixed(3)} on average over ${SPLITS} unseen halves, minimum ${least.toFixed(3)}`);
  }
}

if (process.argv.length < 3) {
  console.error("node test/bench/pairs/fit/fit-command.ts FILE.csv [FILE.csv …]");
  process.exitCode = 2;
} else main(process.argv.slice(2));
