import { osaDistance } from "../matching/names/osa-distance.ts";
import { groupBy, lowerBound, powerOfTwo } from "./grouped.ts";
import { hashOn, hashStart, spread } from "./hash.ts";

/** Errors are looked for in a word's beginning: what is alike there is then compared as a whole. */
const BEGINNING = 7;
const SHORTEST = 4;
/** From this length on a word may have two errors. */
const TWO_ERRORS_FROM = 8;
/** Longer words are ranked as if they were so long. */
const LONGEST = 63;

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
  // Ranked by length, a bucket's words that are too short or too long stand apart, and those alike close together.
  const { ids, firstOfLength } = byLength(count, (id) => wordAt(id).length);
  const grouped = groupBy(buckets, (visit) => {
    for (let rank = 0; rank < count; rank++) {
      eachOwnShortening(wordAt(ids[rank]!), (hash) => visit(bucketOf(hash), rank));
    }
  });
  // By the hash itself: a bucket is for as many words as there were.
  const added = new Map<number, number[]>();
  // Of each rank, side by side: the word's letters, by which most are passed over without a look at it; when it was seen.
  const known = new Uint32Array(3 * count);
  for (let rank = 0; rank < count; rank++) known.set(lettersOf(wordAt(ids[rank]!)), 3 * rank);
  let round = 0;
  return {
    near(word, tell) {
      // With letters too few or too many, one of the two words can be long enough for more errors than the other is.
      const most = errorsAllowed(word.length + 1) === 0 ? 0 : errorsAllowed(word.length + 2);
      if (most === 0) return;
      round++;
      const [once, twice] = lettersOf(word);
      const compare = (id: number) => {
        const other = wordAt(id);
        const allowed = errorsAllowed(Math.max(word.length, other.length));
        const errors = osaDistance(word, other, allowed);
        if (errors > 0 && errors <= allowed) tell(id, errors);
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
          // One error changes one letter for another at most.
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
      eachOwnShortening(wordAt(id), (hash) => {
        const there = added.get(hash);
        if (there) there.push(id);
        else added.set(hash, [id]);
      });
    },
  };
}

/** Numbers in the order of their words' lengths, and where those of a length, or of more, begin. */
function byLength(count: number, lengthOf: (id: number) => number) {
  const { starts, values: ids } = groupBy(LONGEST + 1, (visit) => {
    for (let id = 0; id < count; id++) visit(Math.min(LONGEST, lengthOf(id)), id);
  });
  return { ids, firstOfLength: (length: number) => starts[Math.max(0, Math.min(LONGEST, length))]! };
}

/** Which characters a word has, and which more than once: a bit for each letter, other characters share some. */
function lettersOf(word: string): [once: number, twice: number] {
  let [once, twice] = [0, 0];
  for (let at = 0; at < word.length; at++) {
    const letter = 1 << (word.charCodeAt(at) & 31);
    twice |= once & letter;
    once |= letter;
  }
  return [once, twice];
}

/** How many bits of a number are set. */
function bitsOf(number: number): number {
  const pairs = number - ((number >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
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
