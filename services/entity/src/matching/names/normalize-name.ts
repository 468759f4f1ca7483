import { repairName } from "@vvs/identifiers/written-name";
import anyAscii from "any-ascii";
import { expand } from "./abbreviations.ts";
import { compareLegalForms, formsOf, isLegalForm, qualifierStart, splitLegalForms } from "./legal-forms.ts";
import { withoutNativeForms } from "./native-forms.ts";
import { canonicalNumbers } from "./numbers.ts";

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

/** Most names need no transliteration. */
const isPrintableAscii = /^[\x20-\x7e]*$/;
const maxTokens = 24;
const maxKeys = 8;
/** Single letters at the end of a name that are a legal form with spaces ("FUND X L P"). */
const spacedForms = /^(.*?)(lllp|pllc|llc|llp|lp|nv|bv|pc)$/;
/** Marks between two names of one organization, and before the name of somebody else. */
const secondName =
  /\s(?:d\s?[/.]?\s?b\s?[/.]?\s?a|doing business as|t\/a|trading as|[afn][/.]?k[/.]?a|formerly(?: known as)?|also known as)\b[.:]?\s*/;
const careOf = /\s(?:c\/o|care of)\s/;
/**
 * Normalizes the name of an organization: repairs its encoding, transliterates to lower-case ASCII, removes punctuation,
 * joins initials ("L.L.C.", "L L C"), separates the legal forms, drops outer articles, spells out abbreviations, writes
 * numbers as digits.
 */
export function normalizeName(given: string): NormalizedName {
  const text = preparedText(given);
  return { ...normalizeText(text), alternatives: alternativesIn(text) };
}

/** A name by its words, with abbreviations as they are written. */
export type WrittenName = Pick<ReadWords, "words" | "forms" | "native">;

/** Returns the names that a text contains, most texts one: those before and after "doing business as", "formerly". */
export function writtenNames(given: string): WrittenName[] {
  return partsIn(preparedText(given)).map(readWords);
}

/**
 * True when two names are equal except for case, punctuation, accents, `&`/`and`, abbreviations and the spelling of the
 * legal form. An absent legal form agrees with any.
 */
export function namesAgree(a: NormalizedName, b: NormalizedName): boolean {
  return sharesKey(a, b) && compareLegalForms(a.legalForms, b.legalForms) !== "contradicts";
}

/** True when two names are equal except for the legal form. */
export function sharesKey(a: NormalizedName, b: NormalizedName): boolean {
  return a.key !== "" && a.keys.some((key) => b.keys.includes(key)) && !isOtherNative(a, b);
}

/** True when both names are written in scripts without spaces, with other letters. */
export function isOtherNative(a: NormalizedName, b: NormalizedName): boolean {
  return a.native !== "" && b.native !== "" && a.native !== b.native;
}

function preparedText(given: string): string {
  const name = repairName(given);
  return (isPrintableAscii.test(name) ? name : withoutSymbols(name).normalize("NFKC")).toLowerCase();
}

/** The words of a text. */
interface ReadWords {
  /** In lower-case ASCII. */
  readonly text: string;
  /** Without legal forms and outer articles, numbers as digits. */
  readonly words: readonly string[];
  /** The codes of the legal forms, sorted. */
  readonly forms: string[];
  /** A legal form comes before the name, and none after it. */
  readonly isLeading: boolean;
  /** The letters of scripts without spaces, as written. */
  readonly native: string;
}

function readWords(given: string): ReadWords {
  const own = isPrintableAscii.test(given) ? undefined : withoutNativeForms(given);
  const text = own ? anyAscii(own.text).toLowerCase() : given;
  const { core, forms: latin, isLeading } = splitLegalForms(withoutArticles(tokenize(text)));
  const forms = own && own.forms.length > 0 ? [...new Set([...latin, ...own.forms])].sort() : latin;
  return { text, words: canonicalNumbers(withoutArticles(core)), forms, isLeading, native: own?.native ?? "" };
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
    for (const key of combinations(turned)) keys.add(key);
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

/** Returns the texts of the names in a text, without those of a "c/o". */
function partsIn(text: string): string[] {
  return text.split(secondName).flatMap((part) => part.split(careOf).slice(0, 1));
}

/** Removes emoji and signs such as ™, which would be spelled out as words, unless the name has nothing else. */
function withoutSymbols(name: string): string {
  const text = name.replace(/\p{Extended_Pictographic}|\u2120|\ufe0f/gu, " ");
  return /[\p{L}\p{N}]/u.test(text) ? text : name;
}

function tokenize(text: string): string[] {
  const spelled = text
    .replace(/['`\u2019]/g, "")
    .replace(/[&+]/g, " and ")
    .replace(/%/g, " percent ");
  const words = (spelled.includes(".") ? withJoinedInitials(spelled) : spelled)
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  return joinInitials(words);
}

/** Joins initials with dots ("J. C. M.") to one word each, also at the end of another word. */
function withJoinedInitials(text: string): string {
  return text
    .replace(/\bs\.\s?p\.\s?a\.?\s*$/, "societa per azioni")
    .replace(/([a-z]{4})((?:[a-z]\.){2,}|[bn]\. v\.)/g, "$1 $2")
    .replace(
      /\b[a-z]\.(?:\s?[a-z]\.)*(?:\s?[b-z]\b|(?<=\.)a\b)?/g,
      (initials) => ` ${initials.replace(/[.\s]/g, "")} `,
    );
}

/** Joins single letters ("U S A") to one word. */
function joinInitials(words: readonly string[]): string[] {
  const joined: string[] = [];
  let run: string[] = [];
  const endRun = (isEnd: boolean) => {
    const text = run.join("");
    const [, before, form] = (isEnd && text.length > 2 && spacedForms.exec(text)) || [];
    if (form) joined.push(...(before ? [before] : []), form);
    else if (text !== "") joined.push(text);
    run = [];
  };
  for (const word of words) {
    if (word.length === 1 && word >= "a" && word <= "z") {
      run.push(word);
      continue;
    }
    endRun(false);
    joined.push(word);
  }
  endRun(true);
  return joined;
}

function withoutArticles(words: readonly string[]): string[] {
  const start = words[0] === "the" ? 1 : words[0] === "societe" && words[1] === "dite" ? 2 : 0;
  if (start >= words.length) return [...words];
  const end = words.length - start > 1 && /^(?:the|and)$/.test(words.at(-1)!) ? words.length - 1 : words.length;
  return words.slice(start, end);
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
