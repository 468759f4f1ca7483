import { createIdf, type Idf } from "../matching/names/idf.ts";
import { wordsOf } from "../matching/names/name-keys.ts";
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
import { append, type Grouped, lowerBound } from "./grouped.ts";
import { bagOf, pairOf, spread } from "./hash.ts";
import { createNeighbourhood, type Neighbourhood } from "./neighbourhood.ts";
import { isPlain, plainName } from "./plain-name.ts";

/** What distinguishes names of the same words. */
export interface Traits {
  /** The legal forms; see `formText`. */
  readonly form: string;
  readonly isPlain: boolean;
}

/** Visits names of a list from `start` up to, but not including, `end`. */
export type VisitRun = (names: ArrayLike<number>, start: number, end: number) => void;
type Visit = (name: number) => void;

/**
 * A corpus and its changes: new names are added, the old names of changed entities are marked as gone. A search sees the
 * names of the registry and of its organization. The `with…` methods examine at most `limit` names, including those that
 * are gone, and return how many.
 */
export interface Names {
  readonly nameCount: number;
  /** Number of registry names when the corpus was built. */
  readonly registryNameCount: number;
  readonly dictionary: Dictionary;
  readonly neighbourhood: Neighbourhood;
  /** How rare words are, among the registry's names only: an organization's names do not change others' results. */
  readonly idf: Idf;
  /** The same by a word's number. */
  weightOf(word: number): number;
  /** Number of registry names with a word. */
  countOf(word: number): number;
  isCommon(word: number): boolean;
  /** Visits names with a word. */
  withWord(word: number, organizationId: string, limit: number, visit: VisitRun): number;
  /** Visits names with exactly these words. */
  withAll(words: readonly number[], organizationId: string, limit: number, visit: Visit): number;
  /** Visits names with two common words. */
  withPair(a: number, b: number, organizationId: string, limit: number, visit: Visit): number;
  traitsAt(name: number): Traits;
  /** True where the entity was removed or has other names now. */
  isGone(name: number): boolean;
  /** Writes the words of a name into a list; returns their number, at most `MAX_WORDS`. */
  readWords(name: number, into: Uint32Array): number;
  holds(name: number, word: number): boolean;
  normalizedAt(name: number): NormalizedName;
  entityIdAt(name: number): string;
  /** Number of entities put or removed since the corpus was built. */
  readonly changes: number;
  /** Adds or replaces an entity. */
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
  // Computed once for each word: a look-up needs hundreds.
  const weights = new Float32Array(frozenWords).fill(Number.NaN);
  const weightOf = (word: number) => {
    const known = weights[word];
    if (known !== undefined && !Number.isNaN(known)) return known;
    const weight = idfOf(dictionary.wordAt(word));
    if (word < frozenWords) weights[word] = weight;
    return weight;
  };
  const holds = (name: number, word: number) => {
    if (name >= frozen) return added[name - frozen]!.words.includes(word);
    const end = words.starts[name + 1]!;
    for (let at = words.starts[name]!; at < end; at++) if (words.values[at] === word) return true;
    return false;
  };
  const textsAt = (name: number) =>
    Array.from(words.values.subarray(words.starts[name], words.starts[name + 1]), (word) => dictionary.wordAt(word));
  const wordCountAt = (name: number) =>
    name < frozen ? words.starts[name + 1]! - words.starts[name]! : added[name - frozen]!.words.length;
  const isBagOf = (name: number, all: readonly number[]) =>
    wordCountAt(name) === all.length && all.every((word) => holds(name, word));
  const isGone = (name: number) =>
    name < frozen ? (traitsOf[name]! & GONE) !== 0 : added[name - frozen]!.entity.isGone;

  /** Visits the visible names of a list of added ones and of a group of the corpus. */
  const visitVisible = (
    addedNames: readonly number[],
    { starts, values }: Grouped,
    group: number,
    organizationId: string,
    limit: number,
    visit: VisitRun,
  ) => {
    const visible: number[] = [];
    // The newest first: look-ups often ask for what was just created.
    for (let at = addedNames.length - 1; at >= 0 && visible.length < limit; at--) {
      const { owner } = added[addedNames[at]! - frozen]!.entity;
      if (owner === null || owner === organizationId) visible.push(addedNames[at]!);
    }
    visit(visible, 0, visible.length);
    let visited = visible.length;
    const groupEnd = starts[group + 1];
    // A word that was added later has no group.
    if (groupEnd === undefined) return visited;
    for (const range of [corpus.owned.get(organizationId), registry]) {
      if (!range || range.end === range.start || visited >= limit) continue;
      const start = lowerBound(values, starts[group]!, groupEnd, range.start);
      const end = Math.min(start + limit - visited, lowerBound(values, start, groupEnd, range.end));
      if (end > start) visit(values, start, end);
      visited += end - start;
    }
    return visited;
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
  /** True where an entity's names did not change: most changes are of other data. */
  const isUnchanged = ({ id, owner, names }: IndexedEntity) => {
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
    withWord(word, organizationId, limit, visit) {
      return visitVisible(addedByWord.get(word) ?? [], postings, word, organizationId, limit, visit);
    },
    withAll(all, organizationId, limit, visit) {
      const hash = bagOf(all);
      const bucket = spread(hash) & (bags.starts.length - 2);
      return visitVisible(addedByBag.get(hash) ?? [], bags, bucket, organizationId, limit, (list, start, end) => {
        for (let at = start; at < end; at++) if (isBagOf(list[at]!, all)) visit(list[at]!);
      });
    },
    withPair(a, b, organizationId, limit, visit) {
      const bucket = spread(pairOf(a, b)) & (pairs.starts.length - 2);
      // The added names have no pairs: there are few, so all with one of the words are examined.
      return visitVisible(addedByWord.get(a) ?? [], pairs, bucket, organizationId, limit, (list, start, end) => {
        for (let at = start; at < end; at++) if (holds(list[at]!, a) && holds(list[at]!, b)) visit(list[at]!);
      });
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
    put(changed) {
      if (isUnchanged(changed)) return;
      const { id, owner, names } = changed;
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

/** The number of names in a range with each word. */
function countsWithin({ postings: { starts, values } }: Corpus, range: NameRange, wordCount: number): Uint32Array {
  const counts = new Uint32Array(wordCount);
  for (let word = 0; word < wordCount; word++) {
    const start = lowerBound(values, starts[word]!, starts[word + 1]!, range.start);
    counts[word] = lowerBound(values, start, starts[word + 1]!, range.end) - start;
  }
  return counts;
}
