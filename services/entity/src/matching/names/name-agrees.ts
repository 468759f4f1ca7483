import { osaDistance } from "../osa-distance.ts";
import { wordList } from "../word-list.ts";
import { expand } from "./abbreviations.ts";
import { isCommonWord } from "./common-words.ts";
import { type NormalizedName, normalizeName, sharesKey } from "./normalize-name.ts";
import { inLetters } from "./numbers.ts";
import { preparedText, readWords } from "./read-words.ts";
import { readStrictly, type StrictName, strictNames } from "./strict-names.ts";

/** Abbreviations and spellings that stand for one word only, and are no word or name by themselves, as "med" is. */
const certain = new Set(
  wordList(`
    acctg agcy assn assocs bldg bldrs brdcst bros centre cmty cntr co ctr ctrl dept engr engrg engrs entpr eqpt fdn fncl govt
    grp hldg hldgs hlth hosp hts hwy inds internatl intl invs jr labour maint mfg mfgr mfr mfrs mgmt mgt mkt mktg mnfg mtn natl
    organisation programme ptnrs servs solns sr srvc srvces srvcs srvs svc svcs svs theatre transp twp univ whse whsl
  `),
);
const places = new Map([
  ["st", "saint"],
  ["mt", "mount"],
  ["ft", "fort"],
]);
const withoutMeaning = new Set(["and", "the"]);
/** In a shorter word, a swapped or a doubled letter may make another word. */
const leastLong = 8;

/**
 * Returns whether a name is one of those under which a company is registered: its legal name, which comes first, and those
 * that it does business as. Stricter than a look-up, since a payment may depend on it: another company's name must not agree,
 * even if some spellings of the right one don't either. The words must be the same, in the same order or turned by a comma,
 * except for unmistakable abbreviations, spaces, and a swapped or doubled letter in a long common word. Legal forms must be
 * the same, or one name has none; a registered name without one has the first of the legal name. Where the text has several names
 * ("A dba B"), each must agree.
 */
export function nameAgrees(given: string, registered: readonly string[]): boolean {
  const names = registered.map(strictNames);
  const forms = names[0]?.map(formsOf).find((own) => own.length > 0) ?? [];
  const all = names.flat().flatMap((readings) => {
    if (formsOf(readings).length === 0) return readings.map((each) => ({ ...each, forms }));
    // A registered name lacks no legal form: "Miller AG" is not "Miller AG LLC".
    return readings.filter((each) => each.forms.length > 0);
  });
  return strictNames(given).every((readings) => readings.some((name) => all.some((each) => agrees(name, each))));
}

function formsOf(readings: readonly StrictName[]): readonly string[] {
  return readings.at(-1)?.forms ?? [];
}

/** A name that is read once, to be compared with many. */
export interface ComparedName {
  readonly normalized: NormalizedName;
  readonly distinctions: readonly Distinction[];
}

type Distinction = Pick<StrictName, "words" | "forms">;

/** Reads a name for `namesAgree`. */
export function readName(given: string): ComparedName {
  return { normalized: normalizeName(given), distinctions: distinctionsIn(given) };
}

/**
 * Returns whether two names are equal except for case, punctuation, accents, `&`/`and`, abbreviations and the spelling of the
 * legal form, which may be absent.
 */
export function namesAgree(one: ComparedName, other: ComparedName): boolean {
  if (!sharesKey(one.normalized, other.normalized)) return false;
  return one.distinctions.some((name) =>
    other.distinctions.some(
      (each) => formsAgree(name.forms, each.forms) && name.words.join(" ") === each.words.join(" "),
    ),
  );
}

/** The readings of a name with only the words that look-ups don't distinguish: what may be a number or a legal form. */
function distinctionsIn(given: string): Distinction[] {
  const text = preparedText(given);
  const { words: known } = readWords(text);
  return readStrictly(text).map(({ words, forms }) => ({
    words: words.filter((word) => /\d|^[vx]$/.test(word) || !known.includes(word)),
    forms,
  }));
}

function agrees(a: StrictName, b: StrictName): boolean {
  if (a.native !== b.native || !formsAgree(a.forms, b.forms)) return false;
  const [one, other] = [withSaints(inFull(a.words)), withSaints(inFull(b.words))];
  return one.length > 0 && (haveSameWords(one, other) || haveSameLetters(one, other));
}

function formsAgree(a: readonly string[], b: readonly string[]): boolean {
  return a.length === 0 || b.length === 0 || a.join(" ") === b.join(" ");
}

/** Returns the words with unmistakable abbreviations spelled out. */
export function inFull(words: readonly string[]): string[] {
  return words.map((word) => (certain.has(word) ? expand(word)[0]! : word));
}

/** Spells out "St" and the like where a name begins, unless a common word follows: "ST Engineering" has initials. */
function withSaints(words: readonly string[]): string[] {
  return words.map((word, at) => {
    const next = words[at + 1];
    const isStart = at === 0 || /^(?:of|and)$/.test(words[at - 1]!);
    return isStart && next !== undefined && !isCommonWord(next) ? (places.get(word) ?? word) : word;
  });
}

function haveSameWords(a: readonly string[], b: readonly string[]): boolean {
  const [one, other] = [meaningful(a), meaningful(b)];
  if (one.length !== other.length) return false;
  const at = one.flatMap((word, index) => (word === other[index] ? [] : [index]));
  return at.length === 0 || (at.length === 1 && isSlip(one[at[0]!]!, other[at[0]!]!));
}

/** Returns the words without "and" and "the", unless there are no others. */
export function meaningful(words: readonly string[]): readonly string[] {
  const kept = words.filter((word) => !withoutMeaning.has(word));
  return kept.length > 0 ? kept : words;
}

/** Returns whether the names differ only in spaces and hyphens ("Wal-Mart", "OneMain"). Numbers are not joined: 1 2 is not 12. */
export function haveSameLetters(a: readonly string[], b: readonly string[]): boolean {
  const hasNumbersTogether = (words: readonly string[]) => /\d \d/.test(words.join(" "));
  const isSame = a.join("") === b.join("") || inLetters(a) === inLetters(b);
  return isSame && !hasNumbersTogether(a) && !hasNumbersTogether(b);
}

/** Returns whether one is a long common word, and the other no word but the same with two letters swapped, or one doubled. */
function isSlip(a: string, b: string): boolean {
  const [word, typed] = isCommonWord(a) ? [a, b] : [b, a];
  if (!isCommonWord(word) || isCommonWord(typed) || Math.min(a.length, b.length) < leastLong) return false;
  const once = (text: string) => text.replace(/(.)\1/g, "$1");
  const isSwapped = a.length === b.length && [...a].sort().join("") === [...b].sort().join("");
  return once(a) === once(b) || (isSwapped && osaDistance(a, b, 1) === 1);
}
