import { wordList } from "../word-list.ts";
import { expand, isAbbreviationOf, spellingsOf } from "./abbreviations.ts";
import { mistypedCommonWord } from "./common-words.ts";
import { compareLegalForms } from "./legal-forms.ts";
import { haveSameLetters, inFull, meaningful, nameAgrees } from "./name-agrees.ts";
import { canonicalNumbers, inLetters } from "./numbers.ts";
import { partsIn, preparedText, readWords } from "./read-words.ts";
import { readStrictly } from "./strict-names.ts";

/** Maximum number of keys by which one text is looked for. */
const MAX_KEYS = 64;
/** How many of them may be those of abbreviations. */
const MAX_ABBREVIATED = 24;
/** A shorter word is not taken for two. */
const LEAST_CUT = 4;
const titles = /^\s*(?:dr|mrs?|ms)\b\.?\s*/;
const credentials = new RegExp(
  `(?:[\\s,]+(?:${wordList("md do dds dmd dpm dvm od phd esq cpa rn lpn np")
    .map((word) => [...word].join("[. ]?"))
    .join("|")})\\b\\.?)+(?=\\s*$|[\\s,]+(?:p\\.?[ac]|pllc|llc|inc)\\b)`,
);

interface Reading {
  /** In order, without legal forms. */
  readonly words: readonly string[];
  readonly forms: readonly string[];
  readonly native: string;
}

/** Returns the keys of the names that a text contains. Those of stored names are stored. */
export function nameKeys(text: string): string[] {
  const names = partsIn(preparedText(text)).flatMap(withoutTitles);
  return [...new Set(names.map((part) => keyOf(inOneSpelling(readWords(part)).words)))].filter((key) => key !== "");
}

/**
 * Returns the keys by which stored names are found that a text contains, perhaps in another spelling: turned by a comma,
 * abbreviated, written together or apart. Some of the names found are others: `bearSameName` decides.
 */
export function nameQueryKeys(text: string): string[] {
  const keys = new Set<string>();
  for (const words of spellingsIn(readingsIn(text).map(({ words }) => words))) {
    keys.add(keyOf(words));
    if (keys.size === MAX_KEYS) break;
  }
  return [...keys];
}

/**
 * Returns whether two texts have a name in common: the words are the same, in any order, abbreviated or not, or written
 * together, and the legal forms don't differ. Never stricter than `nameAgrees`, since it is about exclusions: one too many
 * is seen by a person.
 */
export function bearSameName(one: string, other: string): boolean {
  if (nameAgrees(one, [other]) || nameAgrees(other, [one])) return true;
  const others = readingsIn(other);
  return readingsIn(one).some((name) =>
    others.some(
      (each) =>
        name.native === each.native &&
        compareLegalForms(name.forms, each.forms) !== "contradicts" &&
        (haveSameWords(name.words, each.words) || haveSameLetters(name.words, each.words)),
    ),
  );
}

/**
 * The readings of the names in a text: as look-ups read them, also with the last word first, or turned at a comma ("Smith, John V"),
 * and those in which companies differ ("First Energy", "NV Energy"). The whole text is also one, as it once was where rows are stored.
 */
function readingsIn(text: string): Reading[] {
  const prepared = preparedText(text);
  const parts = new Set([...partsIn(prepared), prepared].flatMap(withoutTitles));
  const readings = [...parts].flatMap((part) => {
    const comma = part.indexOf(",");
    const turned =
      comma === -1 ? part.replace(/^(.*\S)\s+(\S+)\s*$/, "$2 $1") : `${part.slice(comma + 1)} ${part.slice(0, comma)}`;
    return [readWords(part), ...readStrictly(part), readWords(turned)];
  });
  return readings.map(inOneSpelling).filter(({ words }) => words.length > 0);
}

/** Returns a text, and it without a person's titles and credentials, if it has any: "Dr. John Smith, M.D., P.C.". */
function withoutTitles(text: string): string[] {
  const bare = text.replace(titles, "").replace(credentials, "");
  return bare !== text && /\S[\s,]+\S/.test(bare) ? [text, bare] : [text];
}

function inOneSpelling({ words, forms, native }: Reading): Reading {
  return { words: meaningful(inFull(words)), forms, native };
}

function keyOf(words: readonly string[]): string {
  return words.toSorted().join(" ");
}

function haveSameWords(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  const left = [...b];
  const take = (isIt: (word: string) => boolean) => {
    const at = left.findIndex(isIt);
    if (at !== -1) left.splice(at, 1);
    return at !== -1;
  };
  const others = a.filter((word) => !take((each) => each === word));
  return others.every((word) => take((each) => isAbbreviationOf(word, each)));
}

/** The spellings of names, the likeliest first. */
function* spellingsIn(names: readonly (readonly string[])[]): Generator<readonly string[]> {
  yield* names;
  yield* names.flatMap(otherSpellings).slice(0, MAX_ABBREVIATED);
  for (const words of names) yield* regrouped(words);
  for (const words of names) for (const each of regrouped(words)) yield* regrouped(each);
}

/** The words with some of them abbreviated, spelled out or corrected, those with the fewest changes first. */
function otherSpellings(words: readonly string[]): string[][] {
  let changed: { words: string[]; count: number }[] = [{ words: [], count: 0 }];
  for (const word of words) {
    const others = [...expand(word, true), ...spellingsOf(word), mistypedCommonWord(word) ?? word];
    const ways = [...new Set([word, ...inFull(others)])];
    changed = changed
      .flatMap(({ words: before, count }) =>
        ways.map((way) => ({ words: [...before, way], count: count + Number(way !== word) })),
      )
      .sort((a, b) => a.count - b.count)
      .slice(0, MAX_ABBREVIATED);
  }
  return changed.map((each) => each.words);
}

/** The words with two of them joined, or one cut in two: "FirstEnergy" is stored as "1 energy" where it is two words. */
function regrouped(words: readonly string[]): string[][] {
  const joined = words.slice(1).flatMap((word, at) => {
    const pair = [words[at]!, word];
    const ways = new Set([pair.join(""), inLetters(pair)]);
    return [...ways].map((way) => [...words.slice(0, at), way, ...words.slice(at + 2)]);
  });
  const cut = words.flatMap((word, at) =>
    word.length < LEAST_CUT || /\d/.test(word)
      ? []
      : [...word].slice(1).map((_, end) => {
          const halves = canonicalNumbers([word.slice(0, end + 1), word.slice(end + 1)]);
          return [...words.slice(0, at), ...halves, ...words.slice(at + 1)];
        }),
  );
  return [...joined, ...cut];
}
