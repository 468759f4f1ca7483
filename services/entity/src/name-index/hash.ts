const PRIME = 0x01000193;

/** The start value for `hashOn`. */
export const hashStart = 0x811c9dc5 | 0;

/** Adds a number to a 32-bit hash. */
export function hashOn(hash: number, value: number): number {
  return Math.imul(hash ^ value, PRIME);
}

/** Mixes a hash so that its lowest bits can choose a bucket. */
export function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** The hash of all words of a name, in any order. */
export function bagOf(words: ArrayLike<number>): number {
  let [sum, product] = [0, 1];
  for (let at = 0; at < words.length; at++) {
    const hash = hashOn(hashOn(hashStart, words[at]! & 0xffff), words[at]! >>> 16);
    sum = (sum + hash) | 0;
    product = Math.imul(product, hash | 1);
  }
  // One after the other: sum and product of one word are equal and would cancel each other out.
  return hashOn(hashOn(hashOn(hashStart, sum), product), words.length);
}

/** The hash of two words of a name, in either order. */
export function pairOf(a: number, b: number): number {
  return hashOn(hashOn(hashOn(hashStart, Math.min(a, b)), Math.max(a, b)), 0x9e37);
}
