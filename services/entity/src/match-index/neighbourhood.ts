import { osaDistance } from "../matching/osa-distance.ts";
import { groupBy, powerOfTwo } from "./grouped.ts";
import { hashOn, hashStart, spread } from "./hash.ts";

/** Errors are looked for in a word's beginning: what is alike there is then compared as a whole. */
const BEGINNING = 7;
const SHORTEST = 4;
/** From this length on a word may have two errors. */
const TWO_ERRORS_FROM = 8;

/** The words that may be meant by a mistyped one. */
export interface Neighbourhood {
  /** Tells each word within one error, or two in long words, with their number. Not the word itself. */
  near(word: string, tell: (id: number, errors: number) => void): void;
  /** Takes a word in that came later. */
  add(id: number): void;
}

/** How many errors two words may differ by and still be one: none below four letters, two from eight on. */
export function errorsAllowed(length: number): number {
  if (length < SHORTEST) return 0;
  return length < TWO_ERRORS_FROM ? 1 : 2;
}

/**
 * Words by what is left of their beginnings when up to two letters are left out (the symmetric delete method): words
 * that a few errors turn into one another share one of these. Kept by the hash alone; what shares a bucket is compared.
 */
export function createNeighbourhood(count: number, wordAt: (id: number) => string): Neighbourhood {
  let entries = 0;
  for (let id = 0; id < count; id++) eachOwnShortening(wordAt(id), () => entries++);
  const buckets = powerOfTwo(entries / 3);
  const bucketOf = (hash: number) => spread(hash) & (buckets - 1);
  const grouped = groupBy(buckets, (visit) => {
    for (let id = 0; id < count; id++) eachOwnShortening(wordAt(id), (hash) => visit(bucketOf(hash), id));
  });
  const added = new Map<number, number[]>();
  // Lengths and marks apart from the words: most of what shares a bucket is passed over without a look at it.
  const lengths = Uint8Array.from({ length: count }, (_, id) => Math.min(255, wordAt(id).length));
  const seenIn = new Uint32Array(count);
  const seenAdded = new Set<number>();
  let round = 0;
  return {
    near(word, tell) {
      // With letters too few or too many, one of the two words can be long enough for more errors than the other is.
      const most = errorsAllowed(word.length + 1) === 0 ? 0 : errorsAllowed(word.length + 2);
      if (most === 0) return;
      round++;
      seenAdded.clear();
      const isSeen = (id: number) => {
        if (id >= count) return seenAdded.has(id) || !seenAdded.add(id);
        if (seenIn[id] === round || Math.abs(lengths[id]! - word.length) > most) return true;
        seenIn[id] = round;
        return false;
      };
      const compare = (id: number) => {
        if (isSeen(id)) return;
        const other = wordAt(id);
        const allowed = errorsAllowed(Math.max(word.length, other.length));
        const errors = osaDistance(word, other, allowed);
        if (errors > 0 && errors <= allowed) tell(id, errors);
      };
      eachShortening(word, most, (hash) => {
        const bucket = bucketOf(hash);
        for (let at = grouped.starts[bucket]!; at < grouped.starts[bucket + 1]!; at++) compare(grouped.values[at]!);
        for (const id of added.get(bucket) ?? []) compare(id);
      });
    },
    add(id) {
      eachOwnShortening(wordAt(id), (hash) => {
        const there = added.get(bucketOf(hash));
        if (there) there.push(id);
        else added.set(bucketOf(hash), [id]);
      });
    },
  };
}

function eachOwnShortening(word: string, visit: (hash: number) => void): void {
  eachShortening(word, errorsAllowed(word.length), visit);
}

/** The hashes of a word's beginning, whole and with as many letters left out as it may have errors. */
function eachShortening(word: string, allowed: number, visit: (hash: number) => void): void {
  if (allowed === 0) return;
  const length = Math.min(word.length, BEGINNING);
  visit(hashWithout(word, length, -1, -1));
  for (let first = 0; first < length; first++) {
    visit(hashWithout(word, length, first, -1));
    if (allowed < 2) continue;
    for (let second = first + 1; second < length; second++) visit(hashWithout(word, length, first, second));
  }
}

function hashWithout(word: string, length: number, first: number, second: number): number {
  let hash = hashStart;
  for (let at = 0; at < length; at++) if (at !== first && at !== second) hash = hashOn(hash, word.charCodeAt(at));
  return hash;
}
