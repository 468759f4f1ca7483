import type { Idf } from "../matching/names/idf.ts";
import { createIdf } from "../matching/names/idf.ts";
import { type NormalizedName, normalizeName } from "../matching/names/normalize-name.ts";
import {
  COMMON_NAMES,
  type Corpus,
  formText,
  GONE,
  type IndexedEntity,
  MAX_FORMS,
  type NameRange,
  PLAIN,
} from "./corpus.ts";
import type { Dictionary } from "./dictionary.ts";
import { bagOf, pairOf } from "./features.ts";
import { type Grouped, lowerBound } from "./grouped.ts";
import { spread } from "./hash.ts";
import { createNeighbourhood, type Neighbourhood } from "./neighbourhood.ts";
import { isPlain, plainName } from "./plain-name.ts";
import { wordsOf } from "./terms.ts";

export interface Traits {
  /** The legal forms; see `formText`. */
  readonly form: string;
  /** Is there nothing but words and legal forms? See `isPlain`. */
  readonly isPlain: boolean;
}

/** Is told names: those of a list from `start` up to, and without, `end`. */
export type TellRun = (names: ArrayLike<number>, start: number, end: number) => void;

/** Who searches: sees the registry's names and the organization's own. */
export type Searcher = string;

/** A corpus and what changed since: names are added, those of entities that changed are struck out. */
export interface Names {
  readonly nameCount: number;
  /** Those of the registry when the corpus was built. */
  readonly registryNameCount: number;
  readonly dictionary: Dictionary;
  readonly neighbourhood: Neighbourhood;
  /** How telling words are, by the registry's names: no organization's own change what others are told. */
  readonly idf: Idf;
  /** The same by a word's number. */
  weightOf(word: number): number;
  /** Registry names that hold a word. */
  countOf(word: number): number;
  isCommon(word: number): boolean;
  /** Tells visible names that hold a word, at most so many, in runs of a list; returns how many they are. */
  withWord(word: number, searcher: Searcher, limit: number, tell: TellRun): number;
  /** Tells visible names that have all of these words and no other; looks at so many at most, and returns how many. */
  withAll(words: readonly number[], searcher: Searcher, limit: number, tell: (name: number) => void): number;
  /** Tells visible names that hold two common words, at most so many; returns how many were looked at. */
  withPair(a: number, b: number, searcher: Searcher, limit: number, tell: (name: number) => void): number;
  /** What else tells a name, but its words. */
  traitsAt(name: number): Traits;
  /** Has the entity other names now? Such names are told all the same. */
  isGone(name: number): boolean;
  /** Writes the words of a name to the beginning of a list; returns how many they are, `MAX_WORDS` at most. */
  readWords(name: number, into: Uint32Array): number;
  holds(name: number, word: number): boolean;
  normalizedAt(name: number): NormalizedName;
  entityIdAt(name: number): string;
  /** Entities that were added or struck out since the corpus was built. */
  readonly changes: number;
  /** Takes in an entity that is new or changed. */
  put(entity: IndexedEntity): void;
  remove(id: string): void;
}

interface AddedName {
  readonly entity: AddedEntity;
  readonly normalized: NormalizedName;
  readonly words: readonly number[];
  readonly traits: Traits;
}

interface AddedEntity {
  readonly id: string;
  readonly owner: string | null;
  isGone: boolean;
}

export function createNames({ corpus, dictionary }: { corpus: Corpus; dictionary: Dictionary }): Names {
  const { nameCount: frozen, entityOf, traitsOf, postings, bags, pairs, words, registry } = corpus;
  const frozenWords = dictionary.size;
  const neighbourhood = createNeighbourhood(frozenWords, dictionary.wordAt);
  const registryCounts = countsWithin(corpus, registry, frozenWords);
  const formLists = corpus.legalForms.map((text) => (text === "" ? [] : text.split(" ")));
  const frozenTraits = [...corpus.legalForms, ""].flatMap((form) => [
    { form, isPlain: false },
    { form, isPlain: true },
  ]);
  const added: AddedName[] = [];
  const addedByWord = new Map<number, number[]>();
  const addedByBag = new Map<number, number[]>();
  const addedEntities = new Map<string, AddedEntity>();
  let changes = 0;

  const countOf = (word: number) => registryCounts[word] ?? 0;
  const isCommon = (word: number) =>
    word < frozenWords && postings.starts[word + 1]! - postings.starts[word]! > COMMON_NAMES;
  const idfOf = createIdf({
    nameCount: registry.end - registry.start,
    namesWith: (word) => countOf(dictionary.idOf(word) ?? frozenWords),
  });
  // Reckoned once for each word: a look-up asks for hundreds.
  const weights = new Float32Array(frozenWords).fill(Number.NaN);
  const weightOf = (word: number) => {
    const known = weights[word];
    if (known !== undefined && !Number.isNaN(known)) return known;
    const weight = idfOf(dictionary.wordAt(word));
    if (word < frozenWords) weights[word] = weight;
    return weight;
  };
  const holds = (name: number, word: number) => {
    if (name >= frozen) return includes(added[name - frozen]!.words, word);
    const end = words.starts[name + 1]!;
    for (let at = words.starts[name]!; at < end; at++) if (words.values[at] === word) return true;
    return false;
  };
  const textsAt = (name: number) => {
    const texts: string[] = [];
    const end = words.starts[name + 1]!;
    for (let at = words.starts[name]!; at < end; at++) texts.push(dictionary.wordAt(words.values[at]!));
    return texts;
  };
  const wordCountAt = (name: number) =>
    name < frozen ? words.starts[name + 1]! - words.starts[name]! : added[name - frozen]!.words.length;
  /** Are these the words of a name, in whatever order? Each is there once. */
  const isBagOf = (name: number, all: readonly number[]) => {
    if (wordCountAt(name) !== all.length) return false;
    for (const word of all) if (!holds(name, word)) return false;
    return true;
  };
  const isGone = (name: number) =>
    name < frozen ? (traitsOf[name]! & GONE) !== 0 : added[name - frozen]!.entity.isGone;

  const tellAdded = (list: readonly number[] | undefined, searcher: Searcher, limit: number, tell: TellRun) => {
    if (!list) return 0;
    const visible: number[] = [];
    // The newest first: what was just created is asked for at once.
    for (let at = list.length - 1; at >= 0 && visible.length < limit; at--) {
      const { entity } = added[list[at]! - frozen]!;
      if (entity.owner === null || entity.owner === searcher) visible.push(list[at]!);
    }
    tell(visible, 0, visible.length);
    return visible.length;
  };
  const tellFrozen = ({ starts, values }: Grouped, group: number, searcher: Searcher, limit: number, tell: TellRun) => {
    let looked = 0;
    const groupEnd = starts[group + 1]!;
    for (const range of [corpus.owned.get(searcher), registry]) {
      if (!range || range.end === range.start || looked >= limit) continue;
      const start = lowerBound(values, starts[group]!, groupEnd, range.start);
      const end = Math.min(start + limit - looked, lowerBound(values, start, groupEnd, range.end));
      if (end > start) tell(values, start, end);
      looked += end - start;
    }
    return looked;
  };
  const firstNameOf = (row: number) => lowerBound(entityOf, 0, frozen, row);
  const remove = (id: string) => {
    const row = corpus.entityIds.rowOf(id);
    if (row !== undefined) {
      for (let name = firstNameOf(row); entityOf[name] === row; name++) traitsOf[name]! |= GONE;
    }
    const entity = addedEntities.get(id);
    if (entity) entity.isGone = true;
    addedEntities.delete(id);
    changes++;
  };
  /** Most changes of a registry entity are of its dates. */
  const isAsKnown = ({ id, owner, names }: IndexedEntity) => {
    const row = corpus.entityIds.rowOf(id);
    if (row === undefined) return false;
    const { start = 0, end = 0 } = (owner === null ? registry : corpus.owned.get(owner)) ?? {};
    let name = firstNameOf(row);
    if (names.length > 0 && (name < start || name >= end)) return false;
    for (const text of names) {
      if (entityOf[name] !== row || isGone(name) || corpus.texts.at(name) !== text) return false;
      name++;
    }
    return entityOf[name] !== row;
  };
  const wordFor = (word: string) => {
    const before = dictionary.size;
    const id = dictionary.add(word);
    if (id >= before) neighbourhood.add(id);
    return id;
  };
  return {
    get nameCount() {
      return frozen + added.length;
    },
    get changes() {
      return changes;
    },
    registryNameCount: registry.end - registry.start,
    dictionary,
    neighbourhood,
    idf: (word) => {
      const id = dictionary.idOf(word);
      return id === undefined ? idfOf(word) : weightOf(id);
    },
    weightOf,
    countOf,
    isCommon,
    withWord(word, searcher, limit, tell) {
      const looked = tellAdded(addedByWord.get(word), searcher, limit, tell);
      return word < frozenWords ? looked + tellFrozen(postings, word, searcher, limit - looked, tell) : looked;
    },
    withAll(all, searcher, limit, tell) {
      const hash = bagOf(all);
      const tellEqual: TellRun = (list, start, end) => {
        for (let at = start; at < end; at++) if (isBagOf(list[at]!, all)) tell(list[at]!);
      };
      const looked = tellAdded(addedByBag.get(hash), searcher, limit, tellEqual);
      const bucket = spread(hash) & (bags.starts.length - 2);
      return looked + tellFrozen(bags, bucket, searcher, limit - looked, tellEqual);
    },
    withPair(a, b, searcher, limit, tell) {
      const tellBoth: TellRun = (list, start, end) => {
        for (let at = start; at < end; at++) if (holds(list[at]!, a) && holds(list[at]!, b)) tell(list[at]!);
      };
      // Of the added ones there are few enough to look through those that hold one of the two.
      const looked = tellAdded(addedByWord.get(a), searcher, limit, tellBoth);
      const bucket = spread(pairOf(a, b)) & (pairs.starts.length - 2);
      return looked + tellFrozen(pairs, bucket, searcher, limit - looked, tellBoth);
    },
    isGone,
    readWords(name, into) {
      if (name >= frozen) {
        const own = added[name - frozen]!.words;
        into.set(own);
        return own.length;
      }
      const start = words.starts[name]!;
      const length = words.starts[name + 1]! - start;
      for (let at = 0; at < length; at++) into[at] = words.values[start + at]!;
      return length;
    },
    holds,
    traitsAt(name) {
      if (name >= frozen) return added[name - frozen]!.traits;
      const traits = traitsOf[name]!;
      return frozenTraits[2 * Math.min(traits & MAX_FORMS, corpus.legalForms.length) + Number((traits & PLAIN) !== 0)]!;
    },
    normalizedAt(name) {
      if (name >= frozen) return added[name - frozen]!.normalized;
      // Normalizing takes longer than comparing, and most names are plain.
      const traits = traitsOf[name]!;
      if ((traits & PLAIN) === 0) return normalizeName(corpus.texts.at(name));
      return plainName(textsAt(name), formLists[traits & MAX_FORMS]!);
    },
    entityIdAt: (name) => (name < frozen ? corpus.entityIds.at(entityOf[name]!) : added[name - frozen]!.entity.id),
    put({ id, owner, names }) {
      if (isAsKnown({ id, owner, names })) return;
      remove(id);
      const entity = { id, owner, isGone: false };
      addedEntities.set(id, entity);
      for (const text of names) {
        const normalized = normalizeName(text);
        const texts = wordsOf(normalized);
        const own = texts.map(wordFor);
        const traits = { form: formText(normalized), isPlain: isPlain(normalized, texts) };
        const name = frozen + added.push({ entity, normalized, words: own, traits }) - 1;
        for (const word of own) append(addedByWord, word, name);
        if (own.length > 0) append(addedByBag, bagOf(own), name);
      }
    },
    remove,
  };
}

function append(lists: Map<number, number[]>, key: number, value: number): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** How many names of a range hold each word. */
function countsWithin({ postings: { starts, values } }: Corpus, range: NameRange, wordCount: number): Uint32Array {
  const counts = new Uint32Array(wordCount);
  for (let word = 0; word < wordCount; word++) {
    const start = lowerBound(values, starts[word]!, starts[word + 1]!, range.start);
    counts[word] = lowerBound(values, start, starts[word + 1]!, range.end) - start;
  }
  return counts;
}

function includes(list: ArrayLike<number>, value: number): boolean {
  for (let at = 0; at < list.length; at++) if (list[at] === value) return true;
  return false;
}
