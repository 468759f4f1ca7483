import { osaDistance } from "../osa-distance.ts";
import { wordList } from "../word-list.ts";
import { expand } from "./abbreviations.ts";
import { isCommonWord } from "./common-words.ts";
import { compareLegalForms } from "./legal-forms.ts";
import { type WrittenName, writtenNames } from "./normalize-name.ts";

/** Abbreviations and spellings that stand for one word only, and are no word or name by themselves, as "med" is. */
const certain = new Set(
  wordList(`
    acctg agcy assn assocs bldg bldrs brdcst bros centre cmty cntr co ctr ctrl dept engr engrg engrs entpr eqpt fdn fncl govt
    grp hldg hldgs hlth hosp hts hwy inds internatl intl invs jr labour maint mfg mfgr mfr mfrs mgmt mgt mkt mktg mnfg mtn natl
    organisation programme ptnrs servs solns sr srvc srvces srvcs srvs svc svcs svs theatre transp twp univ whse whsl
  `),
);
const withoutMeaning = new Set(["and", "the"]);
/** In a shorter word, a swapped or a doubled letter may make another word. */
const leastLong = 8;

/**
 * Returns whether a name is one of those under which a company is registered: its legal name, which comes first, and those
 * that it does business as. Stricter than a look-up, since a payment may depend on it: another company's name must not agree,
 * even if some spellings of the right one don't either. The words must be the same, in any order, except for unmistakable
 * abbreviations, spaces, and a swapped or doubled letter in a long common word. Legal forms must be the same, or one name has
 * none; a registered name without one has that of the legal name. Where the text has several names ("A dba B"), each must agree.
 */
export function nameAgrees(given: string, registered: readonly string[]): boolean {
  const names = registered.flatMap(writtenNames);
  const form = registered
    .slice(0, 1)
    .flatMap(writtenNames)
    .flatMap(({ forms }) => forms);
  const isRegistered = (name: WrittenName) =>
    names.some((each) => agrees(name, each.forms.length > 0 ? each : { ...each, forms: form }));
  return writtenNames(given).every(isRegistered);
}

/**
 * Returns the keys of the names that a text contains. Two names with the same words have a key in common, even with different legal
 * forms; `bearSameName` compares those too.
 */
export function nameKeys(text: string): string[] {
  const keys = writtenNames(text).map((name) => meaningful(inFull(name)).toSorted().join(" "));
  return [...new Set(keys)].filter((key) => key !== "");
}

/** Returns whether one of two texts is, or contains, the name of the other, as `nameAgrees` compares them. */
export function bearSameName(one: string, other: string): boolean {
  return nameAgrees(one, [other]) || nameAgrees(other, [one]);
}

function agrees(a: WrittenName, b: WrittenName): boolean {
  if (a.native !== b.native || compareLegalForms(a.forms, b.forms) === "contradicts") return false;
  const [one, other] = [inFull(a), inFull(b)];
  return one.length > 0 && (haveSameWords(one, other) || haveSameLetters(one, other));
}

function inFull({ words }: WrittenName): string[] {
  return words.map((word) => (certain.has(word) ? expand(word)[0]! : word));
}

function haveSameWords(a: readonly string[], b: readonly string[]): boolean {
  const [one, other] = [meaningful(a), meaningful(b)];
  if (one.length !== other.length) return false;
  const left = without(one, other);
  return left.length === 0 || (left.length === 1 && isSlip(left[0]!, without(other, one)[0]!));
}

function meaningful(words: readonly string[]): readonly string[] {
  const kept = words.filter((word) => !withoutMeaning.has(word));
  return kept.length > 0 ? kept : words;
}

/** Returns the words that the other list lacks; a word that is there once is lacked the second time. */
function without(words: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return words.filter((word) => {
    const at = left.indexOf(word);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

/** Returns whether the names differ only in spaces and hyphens ("Wal-Mart"). Numbers are not joined: 1 2 is not 12. */
function haveSameLetters(a: readonly string[], b: readonly string[]): boolean {
  const hasNumbersTogether = (words: readonly string[]) => /\d \d/.test(words.join(" "));
  return a.join("") === b.join("") && !hasNumbersTogether(a) && !hasNumbersTogether(b);
}

/** Returns whether one is a long common word, and the other no word but the same with two letters swapped, or one doubled. */
function isSlip(a: string, b: string): boolean {
  const [word, typed] = isCommonWord(a) ? [a, b] : [b, a];
  if (!isCommonWord(word) || isCommonWord(typed) || Math.min(a.length, b.length) < leastLong) return false;
  const once = (text: string) => text.replace(/(.)\1/g, "$1");
  const isSwapped = a.length === b.length && [...a].sort().join("") === [...b].sort().join("");
  return once(a) === once(b) || (isSwapped && osaDistance(a, b, 1) === 1);
}
