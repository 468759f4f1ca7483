import { wordsOf } from "../matching/names/name-keys.ts";
import { type NormalizedName, normalizeName } from "../matching/names/normalize-name.ts";
import { createColumn, createTextColumn, type Texts } from "./column.ts";
import { createDictionary, type Dictionary } from "./dictionary.ts";
import { createEntityIdCollector, type EntityIds } from "./entity-ids.ts";
import { type Grouped, groupBy, powerOfTwo } from "./grouped.ts";
import { bagOf, pairOf, spread } from "./hash.ts";
import { isPlain } from "./plain-name.ts";

export interface IndexedEntity {
  readonly id: string;
  /** The only organization that may find it; null for registry entities. */
  readonly owner: string | null;
  /** The legal name first, unless it is a placeholder. */
  readonly names: readonly string[];
}

/** The numbers of names from `start` up to, but not including, `end`. */
export interface NameRange {
  readonly start: number;
  readonly end: number;
}

/**
 * All names as of one time, in arrays. They are ordered by owner, the registry's first, so that the names an organization
 * may see are two ranges of numbers.
 */
export interface Corpus {
  readonly nameCount: number;
  /** The row of each name's entity. */
  readonly entityOf: Uint32Array;
  readonly entityIds: EntityIds;
  readonly texts: Texts;
  /** The words of each name, in order; see `wordsOf`. */
  readonly words: Grouped;
  /** The names with each word, ascending. */
  readonly postings: Grouped;
  /** Names by the hash of all their words; several hashes share a bucket. */
  readonly bags: Grouped;
  /** Names by the hash of each pair of common words; several hashes share a bucket. */
  readonly pairs: Grouped;
  /** The legal forms of each name, as an index of `legalForms`, and `PLAIN` where `isPlain` holds. */
  readonly traitsOf: Uint16Array;
  readonly legalForms: readonly string[];
  readonly registry: NameRange;
  readonly owned: ReadonlyMap<string, NameRange>;
}

export interface CorpusBuilder {
  /** Adds an entity. The registry's must come first, then those of each owner together. */
  add(entity: IndexedEntity): void;
  finish(): { corpus: Corpus; dictionary: Dictionary };
}

/** A word in more names than this is common: only together with another word does it distinguish names. */
export const COMMON_NAMES = 1_000;

/** Maximum number of combinations of legal forms; all further ones count as one. */
export const MAX_FORMS = 0x3fff;
/** Marks in `traitsOf`, which share its numbers with the legal forms because they are read together. */
export const PLAIN = 0x4000;
export const GONE = 0x8000;

export function createCorpusBuilder(): CorpusBuilder {
  const dictionary = createDictionary();
  const entityIds = createEntityIdCollector();
  const texts = createTextColumn();
  const entityOf = createColumn();
  const wordStarts = createColumn();
  const words = createColumn();
  const traitsOf = createColumn();
  const formNumbers = new Map<string, number>();
  const ranges = new Map<string | null, { start: number; end: number }>();
  return {
    add({ id, owner, names }) {
      for (const name of names) {
        entityOf.push(entityIds.count);
        texts.push(name);
        wordStarts.push(words.length);
        const normalized = normalizeName(name);
        const own = wordsOf(normalized);
        for (const word of own) words.push(dictionary.add(word));
        const form = numberOf(formNumbers, formText(normalized));
        traitsOf.push(form < MAX_FORMS && isPlain(normalized, own) ? form | PLAIN : form);
      }
      const range = ranges.get(owner);
      if (range) range.end = entityOf.length;
      else ranges.set(owner, { start: entityOf.length - names.length, end: entityOf.length });
      entityIds.push(id);
    },
    finish() {
      const nameCount = entityOf.length;
      wordStarts.push(words.length);
      const forward: Grouped = { starts: wordStarts.take(), values: words.take() };
      const postings = groupBy(dictionary.size, (visit) => eachWord(forward, nameCount, visit));
      const registry = ranges.get(null) ?? { start: 0, end: 0 };
      ranges.delete(null);
      const corpus: Corpus = {
        nameCount,
        entityOf: entityOf.take(),
        entityIds: entityIds.finish(),
        texts: texts.take(),
        words: forward,
        postings,
        bags: bagsOf(forward, nameCount),
        pairs: pairsOf(forward, nameCount, postings.starts),
        traitsOf: Uint16Array.from(traitsOf.take()),
        legalForms: [...formNumbers.keys()],
        registry,
        owned: ranges as ReadonlyMap<string, NameRange>,
      };
      return { corpus, dictionary };
    },
  };
}

function eachWord(words: Grouped, nameCount: number, visit: (word: number, name: number) => void): void {
  for (let name = 0; name < nameCount; name++) {
    for (let at = words.starts[name]!; at < words.starts[name + 1]!; at++) visit(words.values[at]!, name);
  }
}

/** The legal forms of a name as one text. */
export function formText({ legalForms }: NormalizedName): string {
  return legalForms.join(" ");
}

function numberOf(numbers: Map<string, number>, text: string): number {
  const known = numbers.get(text);
  if (known !== undefined) return known;
  const number = Math.min(numbers.size, MAX_FORMS);
  if (number < MAX_FORMS) numbers.set(text, number);
  return number;
}

function bagsOf(words: Grouped, nameCount: number): Grouped {
  const buckets = powerOfTwo(nameCount);
  return groupBy(buckets, (visit) => {
    for (let name = 0; name < nameCount; name++) {
      const own = words.values.subarray(words.starts[name], words.starts[name + 1]);
      if (own.length > 0) visit(spread(bagOf(own)) & (buckets - 1), name);
    }
  });
}

function pairsOf(words: Grouped, nameCount: number, postingStarts: Uint32Array): Grouped {
  const isCommon = (word: number) => postingStarts[word + 1]! - postingStarts[word]! > COMMON_NAMES;
  const eachPair = (visit: (hash: number, name: number) => void) => {
    for (let name = 0; name < nameCount; name++) {
      const common = words.values.subarray(words.starts[name], words.starts[name + 1]).filter(isCommon);
      for (let first = 0; first < common.length; first++) {
        for (let second = first + 1; second < common.length; second++) {
          visit(spread(pairOf(common[first]!, common[second]!)), name);
        }
      }
    }
  };
  let count = 0;
  eachPair(() => count++);
  const buckets = powerOfTwo(count);
  return groupBy(buckets, (visit) => eachPair((hash, name) => visit(hash & (buckets - 1), name)));
}
