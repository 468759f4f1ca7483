import { type Category, categories, lookAlikes } from "../registry/queries.ts";

/** Result of one look-up by name. */
export interface Outcome {
  readonly cat: string;
  /** False for a name that no record has. */
  readonly isPresent: boolean;
  /** Whether each answer is right, best answer first; empty if nothing was found. */
  readonly right: readonly boolean[];
  /** The confidence of each answer. */
  readonly confidences: readonly number[];
}

/** Minimum confidence of a sure answer. */
const SURE = 0.8;
const BINS = 10;
/** Categories of names as most people write them. */
const plain: readonly string[] = ["exact", "suffix", "typo1"] satisfies Category[];
/** Names chosen to be mistaken for a record's: few people ask for these, so that the confidence is not fitted to them. */
const uncalibrated: readonly string[] = lookAlikes;

/**
 * Returns the share of queries with a right first answer, and with a right one among ten, by category and on average
 * over the categories that have a right answer; how often the confidence was as it should be; and the calibration
 * error: the average difference between the confidence of first answers and the share of them that is right.
 */
export function judge(outcomes: readonly Outcome[]): Readonly<Record<string, number>> {
  const byCategory = Map.groupBy(outcomes, ({ cat }) => cat);
  const known = [...categories.filter((cat) => byCategory.has(cat)), ...byCategory.keys()];
  const answerable = [...new Set(known)].filter((cat) => byCategory.get(cat)!.some(({ isPresent }) => isPresent));
  const first = answerable.map((cat) => share(byCategory.get(cat)!, isRightFirst));
  const amongTen = answerable.map((cat) =>
    share(byCategory.get(cat)!, ({ right }) => right.slice(0, 10).includes(true)),
  );
  const absentKinds = [...byCategory.keys()].filter((cat) => !answerable.includes(cat));
  const absent = outcomes.filter(({ isPresent }) => !isPresent);
  const common = outcomes.filter(({ cat, isPresent }) => isPresent && plain.includes(cat));
  return {
    ...Object.fromEntries(answerable.map((cat, index) => [`first_${cat}`, rounded(first[index]!)])),
    first_mean: rounded(mean(first)),
    first_least: rounded(
      Math.min(...first.filter((_, index) => answerable[index] !== "drop"), Number.POSITIVE_INFINITY),
    ),
    ...Object.fromEntries(answerable.map((cat, index) => [`among_ten_${cat}`, rounded(amongTen[index]!)])),
    among_ten_mean: rounded(mean(amongTen)),
    ...Object.fromEntries(
      absentKinds.map((cat) => [`not_sure_${cat}`, rounded(share(byCategory.get(cat)!, isNotSure))]),
    ),
    absent_not_sure: rounded(share(absent, isNotSure)),
    plain_sure_and_right: rounded(share(common, (each) => isRightFirst(each) && each.confidences[0]! >= SURE)),
    calibration_error: rounded(calibrationError(outcomes.filter(({ cat }) => !uncalibrated.includes(cat)))),
  };
}

function isNotSure({ confidences }: Outcome): boolean {
  return (confidences[0] ?? 0) < SURE;
}

function isRightFirst({ right, confidences }: Outcome): boolean {
  // Answers with the same confidence are a tie.
  return right.some((isRight, index) => isRight && confidences[index] === confidences[0]);
}

function calibrationError(outcomes: readonly Outcome[]): number {
  const answered = outcomes.filter(({ confidences }) => confidences.length > 0);
  const bins = Map.groupBy(answered, ({ confidences }) => Math.min(BINS - 1, Math.floor(confidences[0]! * BINS)));
  const gaps = [...bins.values()].map((bin) => {
    const confidence = mean(bin.map(({ confidences }) => confidences[0]!));
    return (Math.abs(confidence - share(bin, ({ right }) => right[0] === true)) * bin.length) / answered.length;
  });
  return gaps.reduce((sum, gap) => sum + gap, 0);
}

function share<T>(all: readonly T[], holds: (one: T) => boolean): number {
  return all.filter(holds).length / all.length;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function rounded(value: number): number {
  return Number(value.toFixed(4));
}
