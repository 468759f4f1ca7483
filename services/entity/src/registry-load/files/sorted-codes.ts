/** Collects numbers of 64 bits, 8 bytes each. */
export function createCodeCollector() {
  let codes = new BigUint64Array(1_024);
  let length = 0;
  return {
    add(code: bigint): void {
      if (length === codes.length) {
        const larger = new BigUint64Array(codes.length * 2);
        larger.set(codes);
        codes = larger;
      }
      codes[length++] = code;
    },
    /** Returns the numbers in their order. */
    finish: () => codes.subarray(0, length).sort(),
  };
}

/** Returns how often a number is among sorted ones. */
export function countOf(sorted: BigUint64Array, code: bigint): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < code) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (sorted[end] === code) end++;
  return end - low;
}
