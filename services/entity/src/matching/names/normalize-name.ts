import { expand } from "./abbreviations.ts";
import { formsOf, isLegalForm, qualifierStart } from "./legal-forms.ts";
import { partsIn, preparedText, readWords, tokenize } from "./read-words.ts";

/** A name, prepared for comparison. */
export interface NormalizedName {
  /** The core words in order, abbreviations spelled out. "" for a name without letters and digits. */
  key: string;
  /** `key` and the other readings: each meaning of an abbreviation, and "SURNAME, GIVEN" in both orders. */
  keys: string[];
  /** The words without legal forms and outer articles, in one spelling. */
  coreTokens: string[];
  /** The codes of the legal forms ("llc"), sorted, also of one inside the name. */
  legalForms: string[];
  /** Where in `coreTokens` a qualifier (", Eindhoven") begins; their number where there is none. */
  qualifierFrom: number;
  /**
   * The letters of scripts without spaces, as written; "" for most names. Different ones can have one transliteration.
   */
  native: string;
  /** The names before and after "doing business as", "formerly", "c/o". */
  alternatives: readonly NormalizedName[];
}

const maxTokens = 24;
const maxKeys = 8;

/**
 * Normalizes the name of an organization: repairs its encoding, transliterates to lower-case ASCII, removes punctuation,
 * joins initials ("L.L.C.", "L L C"), separates the legal forms, drops outer articles, spells out abbreviations, writes
 * numbers as digits.
 */
export function normalizeName(given: string): NormalizedName {
  const text = preparedText(given);
  return { ...normalizeText(text), alternatives: alternativesIn(text) };
}

/** True when two names are equal except for the legal form. */
export function sharesKey(a: NormalizedName, b: NormalizedName): boolean {
  return a.key !== "" && a.keys.some((key) => b.keys.includes(key)) && !isOtherNative(a, b);
}

/** True when both names are written in scripts without spaces, with other letters. */
export function isOtherNative(a: NormalizedName, b: NormalizedName): boolean {
  return a.native !== "" && b.native !== "" && a.native !== b.native;
}

function normalizeText(given: string): NormalizedName {
  const { text, words: all, forms, isLeading, native } = readWords(given);
  const words = all.slice(0, maxTokens);
  const isAtEnd = (index: number) => index > 0 && (index + 1 === words.length || isLegalForm(words[index + 1]!));
  const readings = words.map((word, index) => expand(word, isAtEnd(index)));
  const coreTokens = words.map((word, index) => (readings[index]!.length === 1 ? readings[index]![0]! : word));
  const keys = new Set(combinations(readings));
  const surnameLength = forms.length === 0 ? surnameTokens(text) : 0;
  if (surnameLength > 0 && surnameLength < readings.length) {
    const turned = [...readings.slice(surnameLength), ...readings.slice(0, surnameLength)];
    // Read again as said: in "Smith, John V" the last letter is no number.
    const said = readWords(text.replace(/^([^,]*),(.*)$/, "$2 $1"));
    const orders = said.forms.length > 0 ? [turned] : [turned, said.words.map((word) => expand(word))];
    for (const key of orders.flatMap(combinations)) keys.add(key);
  }
  const [key = ""] = keys;
  const inner = qualifierStart(words);
  const behindComma = isLeading && text.includes(",") ? tokenize(text.slice(text.indexOf(",") + 1)).length : 0;
  return {
    key,
    keys: [...keys],
    coreTokens,
    legalForms: inner < words.length ? [...new Set([...forms, ...formsOf(words[inner]!)])].sort() : forms,
    qualifierFrom: Math.max(1, Math.min(inner, coreTokens.length - behindComma)),
    native,
    alternatives: [],
  };
}

function alternativesIn(text: string): NormalizedName[] {
  const parts = partsIn(text);
  if (parts.length === 1 && parts[0] === text) return [];
  const names = parts.slice(0, 3).map(normalizeText);
  return names.filter(({ key }) => key !== "");
}

/** The number of words before the comma of "SURNAME, GIVEN [MIDDLE]", as sole proprietors are listed; else 0. */
function surnameTokens(text: string): number {
  const match = /^\s*([a-z'-]+(?: (?:jr|sr))?),\s*[a-z]+\.?(?: [a-z]+\.?){0,2}\s*$/.exec(text);
  return match ? tokenize(match[1]!).length : 0;
}

function combinations(readings: readonly (readonly string[])[]): string[] {
  let keys = [""];
  for (const choices of readings) {
    const next = keys.flatMap((key) => choices.map((word) => (key === "" ? word : `${key} ${word}`)));
    keys = next.length <= maxKeys ? next : keys.map((key) => `${key} ${choices[0]}`.trim());
  }
  return keys;
}
