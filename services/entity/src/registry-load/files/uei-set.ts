import { countOf, createCodeCollector } from "./sorted-codes.ts";

/** The UEIs of a file, 8 bytes each: a million fit into 8 MB. */
export type UeiSet = ReturnType<ReturnType<typeof createUeiCollector>["finish"]>;

const HALF = 6;
/** 36 ** 6: the number of values of half a UEI. */
const HALF_RANGE = 2_176_782_336n;

/** Collects UEIs (12 of A–Z0–9) for a UeiSet. */
export function createUeiCollector() {
  const codes = createCodeCollector();
  return {
    add: (uei: string) => codes.add(codeOf(uei)),
    finish() {
      const sorted = codes.finish();
      const repeated = sorted.filter((code, at) => code === sorted[at - 1] && (at < 2 || code !== sorted[at - 2]));
      return {
        has: (uei: string) => countOf(sorted, codeOf(uei)) > 0,
        /** Returns whether a UEI was added more than once. */
        isRepeated: (uei: string) => repeated.length > 0 && countOf(repeated, codeOf(uei)) > 0,
        /** Yields the UEIs that were added more than once, in groups of at most `groupSize`. */
        *repeated(groupSize: number): Generator<ReadonlySet<string>> {
          for (let start = 0; start < repeated.length; start += groupSize) {
            yield new Set(Array.from(repeated.subarray(start, start + groupSize), textOf));
          }
        },
      };
    },
  };
}

/** Returns a UEI as a number in base 36, which fits into 64 bits. */
function codeOf(uei: string): bigint {
  return BigInt(Number.parseInt(uei.slice(0, HALF), 36)) * HALF_RANGE + BigInt(Number.parseInt(uei.slice(HALF), 36));
}

function textOf(code: bigint): string {
  return code
    .toString(36)
    .toUpperCase()
    .padStart(2 * HALF, "0");
}
