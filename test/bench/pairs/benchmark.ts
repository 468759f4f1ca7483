import { generalIdf } from "../../../services/entity/src/matching/names/idf.ts";
import { normalizeName } from "../../../services/entity/src/matching/names/normalize-name.ts";
import { type NameScore, sameNameScore, scoreName } from "../../../services/entity/src/matching/names/score-name.ts";
import type { Benchmark, Figures, RowBench } from "../benchmark.ts";
import { nameModelOf } from "../registry/extract.ts";
import { textOf } from "../registry/names.ts";
import { categories, queriesOf } from "../registry/queries.ts";
import { round } from "../round.ts";
import { bestThreshold, bootstrapInterval, f1Limit, qualityAt } from "./classification.ts";
import { type LabelledPair, readPairs } from "./pair-file.ts";

const BOOTSTRAP_SAMPLES = 2_000;
const SEED = 7;
const TIMED_PAIRS = 40_000;

/** The name scorer by itself, without retrieval or corpus, on pairs that people labelled. */
export const pairsBenchmark: Benchmark = {
  name: "pairs",
  about: "the name scorer on labelled pairs, at the product's own threshold",
  conditions: { names: "only names, word weights from general knowledge" },
  rows: [
    {
      name: "labelled",
      conditions: {
        columns: "name1, name2, is_match",
        interval: `95 % of ${BOOTSTRAP_SAMPLES} bootstrap samples`,
      },
      files: ["pairs"],
      usesServers: false,
      targets: { f1: { at_least: 0.86 }, score_us_per_pair: { at_most: 30 } },
      measure: measureLabelled,
    },
    {
      name: "made-up",
      conditions: { made_up_pairs: "made-up names with the errors of people who type them: the time only" },
      sizes: { "per-category": { long: 400, short: 400 } },
      usesServers: false,
      targets: { score_us_per_pair: { at_most: 30 } },
      measure: measureMadeUp,
    },
  ],
};

async function measureLabelled({ files }: RowBench): Promise<Figures> {
  const pairs = readPairs(files.pairs!);
  const scored = scoreAll(pairs);
  const own = qualityAt(scored, sameNameScore);
  const interval = bootstrapInterval(scored, { threshold: sameNameScore, samples: BOOTSTRAP_SAMPLES, seed: SEED });
  const best = bestThreshold(scored);
  return {
    pairs: pairs.length,
    matches: pairs.filter(({ isMatch }) => isMatch).length,
    threshold: sameNameScore,
    precision: round(own.precision, 4),
    recall: round(own.recall, 4),
    f1: round(own.f1, 4),
    f1_low: round(interval.low, 4),
    f1_high: round(interval.high, 4),
    best_threshold: round(best.threshold, 4),
    best_f1: round(best.f1, 4),
    f1_limit_if_disagreeing_differ: round(f1Limit(scored, disagrees), 4),
    f1_limit_if_longer_differ_too: round(
      f1Limit(scored, (pair) => disagrees(pair) || hasMore(pair)),
      4,
    ),
    ...costs(pairs),
  };
}

async function measureMadeUp(_bench: RowBench, { "per-category": count }: { "per-category": number }) {
  const names = await nameModelOf(SEED);
  const options = { count, seed: SEED, size: 100_000, names, countOf: () => 0 };
  const queries = categories.flatMap((cat) => [...queriesOf({ cat, ...options })]);
  const pairs = queries.map(({ q, id }) => ({ name1: q, name2: textOf(names.nameAt(id ?? 0)) }));
  return { pairs: pairs.length, ...costs(pairs) };
}

type Scored = Pick<NameScore, "score" | "features"> & Pick<LabelledPair, "isMatch">;

function scoreAll(pairs: readonly LabelledPair[]): Scored[] {
  return pairs.map(({ name1, name2, isMatch }) => {
    const { score, features } = scoreName(normalizeName(name1), normalizeName(name2), generalIdf);
    return { score, features, isMatch };
  });
}

/** Returns whether each name has a word or a number that the other lacks. */
function disagrees({ features }: Scored): boolean {
  return features.otherWord + features.otherNumber > 0;
}

/** Returns whether only one of the names has a further word or number. */
function hasMore({ features }: Scored): boolean {
  return features.extraWord + features.extraNumber > 0;
}

/** Returns the processor time to score a pair of normalized names, as an index keeps them, and to normalize one. */
function costs(pairs: readonly Pick<LabelledPair, "name1" | "name2">[]): Record<string, number> {
  const names = pairs.flatMap(({ name1, name2 }) => [name1, name2]);
  const normalized = pairs.map(({ name1, name2 }) => [normalizeName(name1), normalizeName(name2)] as const);
  const rounds = Math.ceil(TIMED_PAIRS / pairs.length);
  const repeat = (once: () => void) => () => {
    for (let index = 0; index < rounds; index++) once();
  };
  const score = repeat(() => {
    for (const [a, b] of normalized) scoreName(a, b, generalIdf);
  });
  const normalize = repeat(() => {
    for (const name of names) normalizeName(name);
  });
  score();
  return {
    score_us_per_pair: round(cpuMicroseconds(score) / (rounds * pairs.length), 2),
    normalize_us_per_name: round(cpuMicroseconds(normalize) / (rounds * names.length), 2),
  };
}

function cpuMicroseconds(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
