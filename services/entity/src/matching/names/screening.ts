import { credentials } from "@vvs/identifiers/credentials";
import { expand, isAbbreviationOf, spellingsOf } from "./abbreviations.ts";
import { mistypedCommonWord } from "./common-words.ts";
import { compareLegalForms } from "./legal-forms.ts";
import { haveSameLetters, inFull, meaningful, nameAgrees } from "./name-agrees.ts";
import { inLetters } from "./numbers.ts";
import { partsIn, preparedText, readWords } from "./read-words.ts";
import { readStrictly } from "./strict-names.ts";

/** Maximum number of keys of abbreviations by which one text is looked for. */
const MAX_ABBREVIATED = 24;
/** Number of texts whose keys are remembered: one read of a vendor needs those of its names several times, and they take 0.1 ms. */
const MAX_REMEMBERED = 1_000;
const titles = /^\s*(?:dr|mrs?|ms)\b\.?\s*/;
const credentialsAtEnd = new RegExp(
  `(?:[\\s,]+(?:${credentials.map((word) => [...word].join("[. ]?")).join("|")})\\b\\.?)+(?=\\s*$|[\\s,]+(?:p\\.?[ac]|pllc|llc|inc)\\b)`,
);

interface Reading {
  /** In order, without legal forms. */
  readonly words: readonly string[];
  readonly forms: readonly string[];
  readonly native: string;
}

/** Returns the keys of the names that a text contains: its words, and its letters. Those of stored names are stored. */
export function nameKeys(text: string): string[] {
  const parts = partsIn(preparedText(text)).flatMap(withoutTitles);
  const keys = parts.flatMap((part) => {
    const name = inOneSpelling(readWords(part));
    const strict = readStrictly(part).map(inOneSpelling);
    return [keyOf(name.words), ...[name, ...strict].flatMap(({ words }) => letterKeys(words))];
  });
  return [...new Set(keys)].filter((key) => key !== "");
}

/**
 * Returns the keys by which stored names are found that a text contains, perhaps in another spelling: turned by a comma,
 * abbreviated, written together or apart. Some of the names found are others: `bearSameName` decides.
 */
export function nameQueryKeys(text: string): readonly string[] {
  const known = remembered.get(text);
  if (known) return known;
  const names = readingsIn(text).map(({ words }) => words);
  const abbreviated = names.flatMap(otherSpellings).slice(0, MAX_ABBREVIATED);
  const keys = [...new Set([...[...names, ...abbreviated].map(keyOf), ...names.flatMap(letterKeys)])];
  if (remembered.size === MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!);
  remembered.set(text, keys);
  return keys;
}

const remembered = new Map<string, readonly string[]>();

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
  const bare = text.replace(titles, "").replace(credentialsAtEnd, "");
  return bare !== text && /\S[\s,]+\S/.test(bare) ? [text, bare] : [text];
}

function inOneSpelling({ words, forms, native }: Reading): Reading {
  return { words: meaningful(inFull(words)), forms, native };
}

function keyOf(words: readonly string[]): string {
  return words.toSorted().join(" ");
}

/** The letters of the words, however these are divided and ordered: of "FirstEnergy" and "First Energy" they are the same. */
function letterKeys(words: readonly string[]): string[] {
  const texts = words.length === 0 ? [] : [words.join(""), inLetters(words)];
  return [...new Set(texts.map((text) => `~${[...text].sort().join("")}`))];
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
