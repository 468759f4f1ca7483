const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** Carries a 32-bit hash on by one number; begin with `hashStart`. */
export function hashOn(hash: number, value: number): number {
  return Math.imul(hash ^ value, PRIME);
}

export const hashStart = OFFSET | 0;

/** Spreads a hash, so that its lowest bits choose a bucket. */
export function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
