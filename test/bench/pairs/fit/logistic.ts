/** One case to fit: its features, and whether it is a match. */
export interface Sample {
  readonly features: readonly number[];
  readonly isMatch: boolean;
  /** Weight of this case in the fit. */
  readonly weight: number;
}

export interface Fit {
  readonly constant: number;
  /** By feature index; each is subtracted from the log-odds. */
  readonly weights: readonly number[];
}

const STEPS = 1_500;
const STEP = 0.03;
const SHRINKAGE = 0.001;

/**
 * Fits a logistic regression with only penalties: a difference between names never makes a match more likely. Weights
 * stay within their bounds, and weights with little evidence shrink to 0. Uses Adam over all samples; deterministic.
 */
export function fitPenalties(
  samples: readonly Sample[],
  bounds: readonly (readonly [least: number, most: number])[],
): Fit {
  const parameters = [3, ...bounds.map(([least]) => least)];
  const [mean, square] = [parameters.map(() => 0), parameters.map(() => 0)];
  const all = samples.reduce((sum, { weight }) => sum + weight, 0);
  for (let step = 1; step <= STEPS; step++) {
    const gradient = parameters.map((value, index) => (index === 0 ? 0 : SHRINKAGE * value));
    for (const { features, isMatch, weight } of samples) {
      const error = ((probabilityOf(parameters, features) - Number(isMatch)) * weight) / all;
      gradient[0]! += error;
      for (const [index, value] of features.entries()) gradient[index + 1]! -= error * value;
    }
    for (const [index, slope] of gradient.entries()) {
      mean[index] = 0.9 * mean[index]! + 0.1 * slope;
      square[index] = 0.999 * square[index]! + 0.001 * slope ** 2;
      const direction = mean[index]! / (1 - 0.9 ** step) / (Math.sqrt(square[index]! / (1 - 0.999 ** step)) + 1e-9);
      const [least, most] = index === 0 ? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] : bounds[index - 1]!;
      parameters[index] = Math.min(most, Math.max(least, parameters[index]! - STEP * direction));
    }
  }
  const [constant, ...weights] = parameters;
  return { constant: constant!, weights };
}

/** Returns the probability of a match. */
export function predict({ constant, weights }: Fit, features: readonly number[]): number {
  return probabilityOf([constant, ...weights], features);
}

function probabilityOf(parameters: readonly number[], features: readonly number[]): number {
  let logOdds = parameters[0]!;
  for (let index = 0; index < features.length; index++) logOdds -= parameters[index + 1]! * features[index]!;
  return 1 / (1 + Math.exp(-logOdds));
}
