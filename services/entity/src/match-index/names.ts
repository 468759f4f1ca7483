import type { Idf } from "../matching/idf.ts";
import { createIdf } from "../matching/idf.ts";
import { normalizeName } from "../matching/normalize-name.ts";
import { COMMON_NAMES, type Corpus, formText, type IndexedEntity, type NameRange } from "./corpus.ts";
import type { Dictionary } from "./dictionary.ts";
import { bagOf, pairOf } from "./features.ts";
import { lowerBound } from "./grouped.ts";
import { spread } from "./hash.ts";
import { createNeighbourhood, type Neighbourhood } from "./neighbourhood.ts";
import { wordsOf } from "./terms.ts";

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
  /** Tells visible names that hold a word, at most so many; returns how many were looked at. */
  withWord(word: number, searcher: Searcher, limit: number, tell: (name: number) => void): number;
  /** Tells visible names that have all of these words and no other, at most so many. */
  withAll(words: readonly number[], searcher: Searcher, limit: number, tell: (name: number) => void): void;
  /** Tells visible names that hold two common words, at most so many; returns how many were looked at. */
  withPair(a: number, b: number, searcher: Searcher, limit: number, tell: (name: number) => void): number;
  /** The legal forms of a name; see `formText`. */
  formAt(name: number): string;
  /** Has the entity other names now? Such names are told all the same. */
  isGone(name: number): boolean;
  wordsAt(name: number): ArrayLike<number>;
  textAt(name: number): string;
  entityIdAt(name: number): string;
  /** Entities that were added or struck out since the corpus was built. */
  readonly changes: number;
  /** Takes in an entity that is new or changed. */
  put(entity: IndexedEntity): void;
  remove(id: string): void;
}

interface AddedName {
  readonly entity: AddedEntity;
  readonly text: string;
  readonly words: readonly number[];
  readonly form: string;
}

interface AddedEntity {
  readonly id: string;
  readonly owner: string | null;
  isGone: boolean;
}

/** Names of one bucket that are looked at for equal words: a name that more have is not told apart by being equal. */
const MAX_BAG = 2_000;

export function createNames({ corpus, dictionary }: { corpus: Corpus; dictionary: Dictionary }): Names {
  const { nameCount: frozen, postings, bags, pairs, words, registry } = corpus;
  const frozenWords = dictionary.size;
  const neighbourhood = createNeighbourhood(frozenWords, dictionary.wordAt);
  const registryCounts = countsWithin(corpus, registry, frozenWords);
  const goneRows = new Uint8Array(corpus.entityIds.count);
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
  const wordsAt = (name: number) =>
    name < frozen ? words.values.subarray(words.starts[name], words.starts[name + 1]) : added[name - frozen]!.words;
  const isGone = (name: number) =>
    name < frozen ? goneRows[corpus.entityOf[name]!] === 1 : added[name - frozen]!.entity.isGone;

  const tellAdded = (
    list: readonly number[] | undefined,
    searcher: Searcher,
    limit: number,
    tell: (n: number) => void,
  ) => {
    let looked = 0;
    // The newest first: what was just created is asked for at once.
    for (let at = (list?.length ?? 0) - 1; at >= 0 && looked < limit; at--) {
      const { entity } = added[list![at]! - frozen]!;
      if (entity.owner !== null && entity.owner !== searcher) continue;
      looked++;
      tell(list![at]!);
    }
    return looked;
  };
  const tellFrozen = (
    { starts, values }: Corpus["postings"],
    group: number,
    searcher: Searcher,
    limit: number,
    tell: (name: number) => void,
  ) => {
    let looked = 0;
    for (const range of [corpus.owned.get(searcher), registry]) {
      if (!range || range.end === range.start) continue;
      const end = starts[group + 1]!;
      for (let at = lowerBound(values, starts[group]!, end, range.start); at < end && looked < limit; at++) {
        const name = values[at]!;
        if (name >= range.end) break;
        looked++;
        tell(name);
      }
    }
    return looked;
  };
  const remove = (id: string) => {
    const row = corpus.entityIds.rowOf(id);
    if (row !== undefined) goneRows[row] = 1;
    const entity = addedEntities.get(id);
    if (entity) entity.isGone = true;
    addedEntities.delete(id);
    changes++;
  };
  /** Most changes of a registry entity are of its dates. */
  const isAsKnown = ({ id, owner, names }: IndexedEntity) => {
    const row = corpus.entityIds.rowOf(id);
    if (row === undefined || goneRows[row] === 1) return false;
    const { start = 0, end = 0 } = (owner === null ? registry : corpus.owned.get(owner)) ?? {};
    let name = lowerBound(corpus.entityOf, 0, frozen, row);
    if (names.length > 0 && (name < start || name >= end)) return false;
    for (const text of names) {
      if (corpus.entityOf[name] !== row || corpus.texts.at(name) !== text) return false;
      name++;
    }
    return corpus.entityOf[name] !== row;
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
      let told = 0;
      const tellEqual = (name: number) => {
        if (told >= limit || !isBagOf(wordsAt(name), all)) return;
        told++;
        tell(name);
      };
      tellAdded(addedByBag.get(hash), searcher, MAX_BAG, tellEqual);
      tellFrozen(bags, spread(hash) & (bags.starts.length - 2), searcher, MAX_BAG, tellEqual);
    },
    withPair(a, b, searcher, limit, tell) {
      const tellBoth = (name: number) => {
        const own = wordsAt(name);
        if (includes(own, a) && includes(own, b)) tell(name);
      };
      // Of the added ones there are few enough to look through those that hold one of the two.
      const looked = tellAdded(addedByWord.get(a), searcher, limit, tellBoth);
      const bucket = spread(pairOf(a, b)) & (pairs.starts.length - 2);
      return looked + tellFrozen(pairs, bucket, searcher, limit - looked, tellBoth);
    },
    isGone,
    wordsAt,
    formAt: (name) => (name < frozen ? (corpus.legalForms[corpus.formOf[name]!] ?? "") : added[name - frozen]!.form),
    textAt: (name) => (name < frozen ? corpus.texts.at(name) : added[name - frozen]!.text),
    entityIdAt: (name) =>
      name < frozen ? corpus.entityIds.at(corpus.entityOf[name]!) : added[name - frozen]!.entity.id,
    put({ id, owner, names }) {
      if (isAsKnown({ id, owner, names })) return;
      remove(id);
      const entity = { id, owner, isGone: false };
      addedEntities.set(id, entity);
      for (const text of names) {
        const normalized = normalizeName(text);
        const own = wordsOf(normalized).map(wordFor);
        const name = frozen + added.push({ entity, text, words: own, form: formText(normalized) }) - 1;
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

/** Are these the same words in whatever order? Each is there once. */
function isBagOf(own: ArrayLike<number>, words: readonly number[]): boolean {
  return own.length === words.length && words.every((word) => includes(own, word));
}
