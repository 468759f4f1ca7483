import { repairName } from "@vvs/identifiers/written-name";
import anyAscii from "any-ascii";
import { splitLegalForms } from "./legal-forms.ts";
import { type NativeText, withoutNativeForms } from "./native-forms.ts";
import { canonicalNumbers } from "./numbers.ts";

/** Most names need no transliteration. */
const isPrintableAscii = /^[\x20-\x7e]*$/;
/** Single letters at the end of a name that are a legal form with spaces ("FUND X L P"). */
const spacedForms = /^(.*?)(lllp|pllc|llc|llp|lp|nv|bv|pc)$/;
/** Marks between two names of one organization, and before the name of somebody else. */
const secondName =
  /[\s([/,;-](?:(?:[fn][/.]?)?d\s?[/.]?\s?b\s?[/.]?\s?a|doing business as|t\/a|trading as|[afn][/.]?k[/.]?a|formerly(?: known as)?|also known as)\b[.:]?\s*/;
/** A `+` that does not belong to a word. */
const betweenWords = /&|(?<=[a-z0-9])\+(?=[a-z0-9])|(?<!\S)\+(?!\S)/g;
const aroundWords = /[^a-z0-9+#]+|(?<![a-z])#|#(?=[a-z0-9])/;
const careOf = /[\s([,;](?:c\/o|care of)\s/;

/** Returns a name with its encoding repaired and in lower case. */
export function preparedText(given: string): string {
  const name = repairName(given);
  return (isPrintableAscii.test(name) ? name : withoutSymbols(name).normalize("NFKC")).toLowerCase();
}

/** The words of a text. */
export interface ReadWords {
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

/** Reads a prepared text for look-ups: what may be the same is the same, and what may be a legal form is one. */
export function readWords(given: string): ReadWords {
  const { text, native, forms: nativeForms } = transliterated(given);
  const { core, forms, isLeading } = splitLegalForms(withoutArticles(tokenize(text)));
  return {
    text,
    words: canonicalNumbers(withoutArticles(core)),
    forms: [...new Set([...forms, ...nativeForms])].sort(),
    isLeading,
    native,
  };
}

/** Transliterates a prepared text to ASCII, without the legal forms of other scripts. */
export function transliterated(text: string): NativeText {
  if (isPrintableAscii.test(text)) return { text, forms: [], native: "" };
  const own = withoutNativeForms(text);
  return { ...own, text: anyAscii(own.text).toLowerCase() };
}

/** Returns the texts of the names in a prepared text, most of one: those around "doing business as", without a "c/o". */
export function partsIn(text: string): string[] {
  return text.split(secondName).flatMap((part) => part.split(careOf).slice(0, 1));
}

/** Removes emoji and signs such as ™, which would be spelled out as words, unless the name has nothing else. */
function withoutSymbols(name: string): string {
  const text = name.replace(/\p{Extended_Pictographic}|\u2120|\ufe0f/gu, " ");
  return /[\p{L}\p{N}]/u.test(text) ? text : name;
}

/** Returns the words of a text in ASCII; strictly, with a `+` or `#` that belongs to a word ("A+", "C#"). */
export function tokenize(text: string, isStrict = false): string[] {
  const spelled = text
    .replace(/['`\u2019]/g, "")
    .replace(/\bco-op(?:erative)?\b/g, "cooperative")
    .replace(isStrict ? betweenWords : /[&+]/g, " and ")
    .replace(/%/g, " percent ");
  const words = (spelled.includes(".") ? withJoinedInitials(spelled) : spelled)
    .split(isStrict ? aroundWords : /[^a-z0-9]+/)
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

/** Returns the words without an article at either end. */
export function withoutArticles(words: readonly string[]): string[] {
  const start = words[0] === "the" ? 1 : words[0] === "societe" && words[1] === "dite" ? 2 : 0;
  if (start >= words.length) return [...words];
  const end = words.length - start > 1 && /^(?:the|and)$/.test(words.at(-1)!) ? words.length - 1 : words.length;
  return words.slice(start, end);
}
