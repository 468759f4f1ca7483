import { hashOn, hashStart } from "./hash.ts";

/** Stands for all words of a name, whatever their order. */
export function bagOf(words: ArrayLike<number>): number {
  let [sum, product] = [0, 1];
  for (let at = 0; at < words.length; at++) {
    const hash = hashOn(hashOn(hashStart, words[at]! & 0xffff), words[at]! >>> 16);
    sum = (sum + hash) | 0;
    product = Math.imul(product, hash | 1);
  }
  // Each by itself: of one word sum and product are the same number, and one would cancel the other.
  return hashOn(hashOn(hashOn(hashStart, sum), product), words.length);
}

/** Stands for two words of a name, in either order. */
export function pairOf(a: number, b: number): number {
  const [less, more] = a < b ? [a, b] : [b, a];
  return hashOn(hashOn(hashOn(hashStart, less), more), 0x9e37);
}
