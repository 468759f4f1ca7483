import { osaDistance } from "../matching/osa-distance.ts";
import { append, groupBy, lowerBound, powerOfTwo } from "./grouped.ts";
import { hashOn, hashStart, spread } from "./hash.ts";

/** Length of the beginning by which words are found; they are then compared as a whole. */
const BEGINNING = 7;
const SHORTEST = 4;
/** Words of at least this length may have two errors. */
const TWO_ERRORS_FROM = 8;
/** Longer words are sorted as if they had this length. */
const LONGEST = 63;

/** The words that a mistyped word may mean. */
export interface Neighbourhood {
  /** Visits each word that differs from `word` by at most `errorsAllowed` errors, but not `word` itself. */
  near(word: string, visit: (id: number, errors: number) => void): void;
  /** Adds a word that came later. */
  add(id: number): void;
}

/** Maximum number of typing errors in a word of this length. */
export function errorsAllowed(length: number): number {
  if (length < SHORTEST) return 0;
  return length < TWO_ERRORS_FROM ? 1 : 2;
}

/**
 * Indexes words by their beginnings with up to two letters omitted (the symmetric delete method): words that differ by
 * few errors share one of these. Only hashes are stored; the words of a bucket are compared.
 */
export function createNeighbourhood(count: number, wordAt: (id: number) => string): Neighbourhood {
  let entries = 0;
  for (let id = 0; id < count; id++) eachOwnShortening(wordAt(id), () => entries++);
  const buckets = powerOfTwo(entries / 3);
  const bucketOf = (hash: number) => spread(hash) & (buckets - 1);
  // Each bucket is sorted by the words' length, so that words too short or too long are skipped.
  const { ids, firstOfLength } = byLength(count, (id) => wordAt(id).length);
  const grouped = groupBy(buckets, (visit) => {
    for (let rank = 0; rank < count; rank++) {
      eachOwnShortening(wordAt(ids[rank]!), (hash) => visit(bucketOf(hash), rank));
    }
  });
  // Words added later, by hash.
  const added = new Map<number, number[]>();
  // For each rank three numbers: the word's letters (see `lettersOf`), by which most words are skipped, and the last round.
  const known = new Uint32Array(3 * count);
  for (let rank = 0; rank < count; rank++) known.set(lettersOf(wordAt(ids[rank]!)), 3 * rank);
  let round = 0;
  return {
    near(word, visit) {
      // The other word may be longer, and so allow more errors.
      const most = errorsAllowed(word.length + 1) === 0 ? 0 : errorsAllowed(word.length + 2);
      if (most === 0) return;
      round++;
      const [once, twice] = lettersOf(word);
      const compare = (id: number) => {
        const other = wordAt(id);
        const allowed = errorsAllowed(Math.max(word.length, other.length));
        const errors = osaDistance(word, other, allowed);
        if (errors > 0 && errors <= allowed) visit(id, errors);
      };
      const firstRank = firstOfLength(word.length - most);
      const endRank = word.length + most < LONGEST ? firstOfLength(word.length + most + 1) : count;
      const seenAdded = new Set<number>();
      eachShortening(word, most, (hash) => {
        const bucket = bucketOf(hash);
        const end = grouped.starts[bucket + 1]!;
        for (let at = lowerBound(grouped.values, grouped.starts[bucket]!, end, firstRank); at < end; at++) {
          const rank = grouped.values[at]!;
          if (rank >= endRank) break;
          const place = 3 * rank;
          if (known[place + 2] === round) continue;
          known[place + 2] = round;
          // An error replaces at most one letter by another.
          const differing = bitsOf(once ^ known[place]!) + bitsOf(twice ^ known[place + 1]!);
          if (differing <= 2 * most) compare(ids[rank]!);
        }
        for (const id of added.get(hash) ?? []) {
          if (!seenAdded.has(id)) compare(id);
          seenAdded.add(id);
        }
      });
    },
    add(id) {
      eachOwnShortening(wordAt(id), (hash) => append(added, hash, id));
    },
  };
}

/** Sorts words by length; `firstOfLength` is the position of the first word of at least a length. */
function byLength(count: number, lengthOf: (id: number) => number) {
  const { starts, values: ids } = groupBy(LONGEST + 1, (visit) => {
    for (let id = 0; id < count; id++) visit(Math.min(LONGEST, lengthOf(id)), id);
  });
  return { ids, firstOfLength: (length: number) => starts[Math.max(0, Math.min(LONGEST, length))]! };
}

/** The characters that a word contains once and more than once: a bit for each letter, shared with other characters. */
function lettersOf(word: string): [once: number, twice: number] {
  let [once, twice] = [0, 0];
  for (let at = 0; at < word.length; at++) {
    const letter = 1 << (word.charCodeAt(at) & 31);
    twice |= once & letter;
    once |= letter;
  }
  return [once, twice];
}

/** The number of bits set in a number. */
function bitsOf(number: number): number {
  const pairs = number - ((number >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function eachOwnShortening(word: string, visit: (hash: number) => void): void {
  eachShortening(word, errorsAllowed(word.length), visit);
}

/** Visits the hashes of a word's beginning, whole and with up to `allowed` letters omitted. */
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
