/** A source of random choices: the same seed and stream give the same choices on any machine. */
export interface Random {
  /** Returns a whole number from 0 to less than `below`. */
  below(below: number): number;
  /** Returns true in this share of cases, 0–1. */
  chance(share: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** Returns an item of a list, the first most often: the n-th has a weight of 1/(n + flatness). */
  zipf<T>(from: readonly T[], flatness?: number): T;
  /** Returns a number from 0 to less than 1. */
  next(): number;
}

/** Returns separate choices for each item of a stream, so that an item can be made without the earlier ones. */
export function randomOf(seed: number, stream: number, item: number): Random {
  let state = mixed(mixed(mixed(seed | 0) ^ (stream | 0)) ^ (item | 0));
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    below: (below) => Math.floor(next() * below),
    chance: (share) => next() < share,
    pick: (from) => from[Math.floor(next() * from.length)]!,
    // The inverse of the integral of 1 / (n + flatness), which is close enough to the sum.
    zipf: (from, flatness = 2) =>
      from[Math.min(from.length - 1, Math.floor(flatness * ((from.length / flatness + 1) ** next() - 1)))]!,
  };
}

function mixed(value: number): number {
  let state = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) | 0;
}
