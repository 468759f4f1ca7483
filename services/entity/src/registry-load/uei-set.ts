/** The UEIs of a file, 8 bytes each: a million fit into 8 MB. */
export interface UeiSet {
  has(uei: string): boolean;
  /** Was it added more than once? */
  isRepeated(uei: string): boolean;
  /** Those that were added more than once, in groups of at most so many. */
  repeated(groupSize: number): Generator<ReadonlySet<string>>;
}

/** Collects UEIs (12 of A–Z0–9) for a UeiSet. */
export interface UeiCollector {
  add(uei: string): void;
  finish(): UeiSet;
}

const HALF = 6;
/** 36 ** 6: the numbers that half a UEI can be. */
const HALF_RANGE = 2_176_782_336n;

export function createUeiCollector(): UeiCollector {
  let codes = new BigUint64Array(1_024);
  let length = 0;
  return {
    add(uei) {
      if (length === codes.length) {
        const larger = new BigUint64Array(codes.length * 2);
        larger.set(codes);
        codes = larger;
      }
      codes[length++] = codeOf(uei);
    },
    finish() {
      const sorted = codes.subarray(0, length).sort();
      const repeated = sorted.filter((code, at) => code === sorted[at - 1] && (at < 2 || code !== sorted[at - 2]));
      return {
        has: (uei) => includes(sorted, codeOf(uei)),
        isRepeated: (uei) => repeated.length > 0 && includes(repeated, codeOf(uei)),
        *repeated(groupSize) {
          for (let start = 0; start < repeated.length; start += groupSize) {
            yield new Set(Array.from(repeated.subarray(start, start + groupSize), textOf));
          }
        },
      };
    },
  };
}

/** A UEI as a number in base 36, which 64 bits hold. */
function codeOf(uei: string): bigint {
  return BigInt(Number.parseInt(uei.slice(0, HALF), 36)) * HALF_RANGE + BigInt(Number.parseInt(uei.slice(HALF), 36));
}

function textOf(code: bigint): string {
  return code
    .toString(36)
    .toUpperCase()
    .padStart(2 * HALF, "0");
}

function includes(sorted: BigUint64Array, code: bigint): boolean {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = sorted[middle]!;
    if (found === code) return true;
    if (found < code) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}
