import { legalForm, type MadeName, type NameModel, textOf } from "./names.ts";
import { type Random, randomOf } from "./random.ts";
import { canonicalShortening } from "./shortenings.ts";

/** How a typed name differs from the registry's. */
export const categories = [
  ...(["exact", "suffix", "typo1", "typo2", "drop", "reorder", "abbrev", "joined", "extra", "absent"] as const),
] as const;
/** Names that no row has, like one that a row has: a word is replaced by another word of the registry, or added. */
export const lookAlikes = ["replaced", "added"] as const;
export type Category = (typeof categories)[number] | (typeof lookAlikes)[number];

export interface NameQuery {
  readonly cat: Category;
  readonly q: string;
  /** Index of the name that is meant; null if there is none, though a row may have the name of a look-alike by chance. */
  readonly id: number | null;
}

const all: readonly Category[] = [...categories, ...lookAlikes];
const QUERIES = 5;
const TRIES = 200;

/** Returns how many names contain a word. People remember the rarest word of a name, and mistype it. */
export type WordCount = (word: string) => number;

/**
 * Yields queries of one category. Skips names that the category can't change (no word to drop or to abbreviate).
 * Absent queries use indexes after the last row, so no row has their names.
 */
export function* queriesOf(options: {
  readonly cat: Category;
  readonly count: number;
  readonly seed: number;
  readonly size: number;
  readonly names: NameModel;
  readonly countOf: WordCount;
}): Generator<NameQuery> {
  const { cat, count, seed, size, names, countOf } = options;
  for (let made = 0, tried = 0; made < count && tried < count * TRIES; tried++) {
    const random = randomOf(seed, QUERIES + all.indexOf(cat), tried);
    const id = cat === "absent" ? 2_000_000_000 + random.below(100_000_000) : random.below(size);
    const other = isLookAlike(cat) ? names.nameAt(random.below(size)) : undefined;
    const q = other ? lookAlike(cat, names.nameAt(id), other, random) : changed(cat, names.nameAt(id), random, countOf);
    if (q === undefined) continue;
    made++;
    yield { cat, q: random.chance(0.3) ? titleCase(q) : q, id: cat === "absent" || other ? null : id };
  }
}

function changed(cat: Category, name: MadeName, random: Random, countOf: WordCount): string | undefined {
  const words = name.core.split(" ").filter(Boolean);
  const withWords = (changedWords: readonly string[]) => `${changedWords.join(" ")}${name.form}`;
  switch (cat) {
    case "exact":
    case "absent":
      return textOf(name);
    case "suffix":
      return otherForm(name, random);
    case "typo1":
    case "typo2": {
      const at = rarest(words, countOf);
      if (at === undefined) return undefined;
      const typos = cat === "typo1" ? 1 : 2;
      const mistyped = mistype(words[at]!, typos, random);
      return mistyped && withWords(words.with(at, mistyped));
    }
    case "drop":
      return words.length < 3 ? undefined : withWords(words.toSpliced(random.below(words.length), 1));
    case "reorder":
      return words.length < 2 ? undefined : reordered(words, random, name.form);
    case "abbrev": {
      const at = words.findIndex((word) => canonicalShortening(word) !== undefined);
      return at < 0 ? undefined : withWords(words.with(at, canonicalShortening(words[at]!)!));
    }
    case "joined": {
      if (words.length < 2) return undefined;
      const at = random.below(words.length - 1);
      if (words[at]!.length + words[at + 1]!.length < 6 || /[^A-Z]/i.test(`${words[at]}${words[at + 1]}`))
        return undefined;
      return withWords(words.toSpliced(at, 2, `${words[at]}${words[at + 1]}`));
    }
    case "extra": {
      const word = random.pick([
        "GROUP",
        "THE",
        "USA",
        "HOLDINGS",
        "INTERNATIONAL",
        "SERVICES",
        "OF AMERICA",
        "NATIONAL",
      ]);
      return word === "THE" ? `THE ${textOf(name)}` : withWords([...words, word]);
    }
  }
}

function isLookAlike(cat: Category): boolean {
  return lookAlikes.some((each) => each === cat);
}

/** Returns a name with a word of three letters or more replaced by such a word of another name, or with that word added. */
function lookAlike(cat: Category, name: MadeName, other: MadeName, random: Random): string | undefined {
  const words = name.core.split(" ").filter(Boolean);
  const isLong = (word: string) => /^[A-Z]{3,}$/i.test(word);
  const places = [...words.keys()].filter((place) => isLong(words[place]!));
  const others = other.core.split(" ").filter(isLong);
  if (places.length === 0 || words.length < 2 || others.length === 0) return undefined;
  const at = random.pick(places);
  return `${words.toSpliced(at, cat === "replaced" ? 1 : 0, random.pick(others)).join(" ")}${name.form}`;
}

/** Returns the name with another legal form, or without one. */
function otherForm(name: MadeName, random: Random): string | undefined {
  const form = random.chance(0.4) ? "" : legalForm(random);
  return form === name.form ? undefined : `${name.core}${form}`;
}

/** Returns the position of the rarest word that is long enough to be recognized despite a typing error. */
function rarest(words: readonly string[], countOf: WordCount): number | undefined {
  const long = words.map((word, at) => ({ word, at })).filter(({ word }) => /^[A-Z]{5,}$/i.test(word));
  const [first] = long.sort((a, b) => countOf(a.word) - countOf(b.word) || b.word.length - a.word.length);
  return first?.at;
}

function mistype(word: string, typos: number, random: Random): string | undefined {
  if (word.length < (typos === 1 ? 5 : 8)) return undefined;
  let typed = word;
  for (let left = typos; left > 0; left--) typed = withTypo(typed, random);
  return typed === word ? undefined : typed;
}

function withTypo(word: string, random: Random): string {
  const at = random.below(word.length);
  const letter = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[random.below(26)]!;
  const [before, after] = [word.slice(0, at), word.slice(at + 1)];
  switch (random.below(4)) {
    case 0:
      return `${before}${after}`;
    case 1:
      return `${before}${letter}${word.slice(at)}`;
    case 2:
      return `${before}${letter}${after}`;
    default:
      return at === word.length - 1 ? before : `${before}${word[at + 1]}${word[at]}${word.slice(at + 2)}`;
  }
}

function reordered(words: readonly string[], random: Random, form: string): string | undefined {
  const bare = words.map((word) => word.replace(/,$/, ""));
  const by = 1 + random.below(bare.length - 1);
  const turned = [...bare.slice(by), ...bare.slice(0, by)];
  return turned.join(" ") === bare.join(" ") ? undefined : `${turned.join(" ")}${form}`;
}

function titleCase(text: string): string {
  return text.toLowerCase().replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
}
