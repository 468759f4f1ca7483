import { powerOfTwo } from "./grouped.ts";
import { spread } from "./hash.ts";

/** The weights of names for one query at a time, in a table of fixed size. */
export interface Tally {
  /** Number of names with a weight. */
  readonly count: number;
  /** Adds a positive weight to a name. */
  add(name: number, weight: number): void;
  /** Adds to the weight of a name that has one; ignores any other name. */
  addToKnown(name: number, weight: number): void;
  /** Returns at most `limit` names with the most weight, none far below the greatest, and clears the tally. */
  takeHeaviest(limit: number): number[];
}

const LEVELS = 128;
/** Minimum share of the greatest weight. */
const LEAST_SHARE = 0.35;
const LEAST_LEVEL = Math.floor(LEVELS * LEAST_SHARE);

/** Creates a tally for at most `capacity` names. */
export function createTally(capacity: number): Tally {
  const size = powerOfTwo(capacity * 2);
  // Index of the name + 1; 0 is free.
  const slots = new Uint16Array(size);
  const names = new Uint32Array(capacity);
  const slotOf = new Uint32Array(capacity);
  const weights = new Float64Array(capacity);
  const levels = new Uint32Array(LEVELS + 1);
  let count = 0;
  /** The slot of a name, or the free slot where it would be. */
  const slotFor = (name: number) => {
    let slot = spread(name) & (size - 1);
    while (slots[slot] !== 0 && names[slots[slot]! - 1] !== name) slot = (slot + 1) & (size - 1);
    return slot;
  };
  return {
    get count() {
      return count;
    },
    add(name, weight) {
      const slot = slotFor(name);
      if (slots[slot] !== 0) {
        weights[slots[slot]! - 1]! += weight;
        return;
      }
      names[count] = name;
      slotOf[count] = slot;
      weights[count] = weight;
      slots[slot] = ++count;
    },
    addToKnown(name, weight) {
      const place = slots[slotFor(name)]!;
      if (place !== 0) weights[place - 1]! += weight;
    },
    takeHeaviest(limit) {
      let greatest = Number.MIN_VALUE;
      for (let place = 0; place < count; place++) if (weights[place]! > greatest) greatest = weights[place]!;
      levels.fill(0);
      for (let place = 0; place < count; place++) levels[Math.floor((weights[place]! / greatest) * LEVELS)]!++;
      let [level, above] = [LEVELS, 0];
      while (level > LEAST_LEVEL && above + levels[level]! <= limit) above += levels[level--]!;
      // The level with too many names is cut off.
      let left = limit - above;
      const chosen: number[] = [];
      for (let place = 0; place < count; place++) {
        const own = Math.floor((weights[place]! / greatest) * LEVELS);
        if (own > level || (own === level && left-- > 0)) chosen.push(names[place]!);
        slots[slotOf[place]!] = 0;
      }
      count = 0;
      return chosen;
    },
  };
}
