/** The score of a pair, 0–1, and whether the pair is a match. */
export interface ScoredPair {
  readonly score: number;
  readonly isMatch: boolean;
}

/** How well a threshold separates matches from others. A share of nothing is 0. */
export interface Quality {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/** Returns the quality of a threshold. A pair with at least this score counts as a match. */
export function qualityAt(pairs: readonly ScoredPair[], threshold: number): Quality {
  let found = 0;
  let right = 0;
  let matches = 0;
  for (const { score, isMatch } of pairs) {
    if (isMatch) matches++;
    if (score < threshold) continue;
    found++;
    if (isMatch) right++;
  }
  return {
    precision: found === 0 ? 0 : right / found,
    recall: matches === 0 ? 0 : right / matches,
    f1: found + matches === 0 ? 0 : (2 * right) / (found + matches),
  };
}

/** Returns the highest F1 of any scorer that keeps some of the pairs apart, whatever their labels. */
export function f1Limit<T extends { readonly isMatch: boolean }>(
  pairs: readonly T[],
  isKeptApart: (pair: T) => boolean,
): number {
  const matches = pairs.filter(({ isMatch }) => isMatch);
  const reachable = matches.filter((pair) => !isKeptApart(pair)).length;
  return matches.length === 0 ? 0 : (2 * reachable) / (reachable + matches.length);
}

/** Returns the threshold with the highest F1 among the scores that occur; among equal ones, the highest. */
export function bestThreshold(pairs: readonly ScoredPair[]): { threshold: number; f1: number } {
  const ranked = pairs.toSorted((a, b) => b.score - a.score);
  const matches = ranked.filter(({ isMatch }) => isMatch).length;
  let best = { threshold: 1, f1: 0 };
  let right = 0;
  for (const [index, { score, isMatch }] of ranked.entries()) {
    if (isMatch) right++;
    if (ranked[index + 1]?.score === score) continue;
    const f1 = (2 * right) / (index + 1 + matches);
    if (f1 > best.f1) best = { threshold: score, f1 };
  }
  return best;
}

/** Returns a generator of numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns the range of F1 of 95 % of the samples, which are drawn from the pairs with replacement. */
export function bootstrapInterval(
  pairs: readonly ScoredPair[],
  options: { threshold: number; samples: number; seed: number },
): { low: number; high: number } {
  const random = seededRandom(options.seed);
  const draw = () => pairs.map(() => pairs[Math.floor(random() * pairs.length)]!);
  const values = Array.from({ length: options.samples }, () => qualityAt(draw(), options.threshold).f1).sort(
    (a, b) => a - b,
  );
  const at = (share: number) => values[Math.min(values.length - 1, Math.floor(share * values.length))]!;
  return { low: at(0.025), high: at(0.975) };
}
