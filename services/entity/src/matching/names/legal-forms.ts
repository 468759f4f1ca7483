import type { PartOutcome } from "../explanation.ts";
import { osaDistance } from "../osa-distance.ts";
import { wordList } from "../word-list.ts";
import {
  compoundForms,
  formsAround,
  leadingSpellings,
  legalFormClasses,
  legalFormSpellings,
  shortened,
} from "./legal-form-spellings.ts";

/** Forms that come before the name, and are neither words nor initials in US names; some only without one at its end. */
const leading = new Set(wordList("ooo oao zao pao uab"));
const leadingAlone = new Set(wordList("jsc nv bv srl llc kk"));

/** Forms of the US, which never come before a name: their letters are initials, their words a name ("National Association"). */
const neverLeading = new Set(wordList("inc corp co llp lllp lp gp ltd pc pa pllc na nfp"));

/** Forms that end the name proper wherever they stand. */
const dividing = new Set(wordList("inc incorporated llc llp lp ltd plc gmbh bv nv srl sarl oao"));

const formsBySpelling = new Map(
  legalFormSpellings.flatMap(([forms, texts]) =>
    texts.flatMap(shortened).map((text) => [text, forms.split(" ")] as const),
  ),
);
const formsBefore = new Map(
  leadingSpellings.flatMap(([forms, texts]) => texts.map((text) => [text, forms.split(" ")] as const)),
);
const longestBefore = Math.max(...[...formsBefore.keys()].map((text) => text.split(" ").length));
const longestSpelling = Math.max(...[...formsBySpelling.keys()].map((text) => text.split(" ").length));
const spellingsByForm = new Map(legalFormSpellings.map(([forms, texts]) => [forms, texts] as const));
/** Spellings of several words, long enough to be recognized where they are mistyped. */
const longSpellings = legalFormSpellings
  .flatMap(([forms, texts]) => texts.map((text) => ({ text, forms: forms.split(" "), length: text.split(" ").length })))
  .filter(({ text, length }) => length > 1 && text.length >= 15);
/** Their first and last words: a mistyped spelling is only looked for beside one of these. */
const edgeWords = new Set(longSpellings.flatMap(({ text }) => [text.split(" ")[0]!, text.split(" ").at(-1)!]));

/** True for a word that is a legal form by itself, also inside a name ("Philips NV, Eindhoven"). */
export function isLegalForm(word: string): boolean {
  return formsBySpelling.has(word);
}

/** The one of `forms` that a word seems to misspell ("Inf" for "Inc") or to begin ("Acme N" for "Acme N.V."). */
export function mistypedForm(word: string, forms: readonly string[]): string | undefined {
  return forms.find((form) =>
    spellingsByForm.get(form)?.some((text) => {
      if (word === form) return true;
      if (word.length === 1) return text[0] === word && text.length <= 4;
      return osaDistance(word, text, 2) <= (text.length < 6 ? 1 : 2);
    }),
  );
}

/**
 * The form of two letters that a last single letter seems to begin, beside a name with a form that ends alike: "Acme B."
 * is "Acme B.V." beside "Acme N.V.".
 */
export function cutForm(letter: string, forms: readonly string[]): string[] | undefined {
  if (letter.length > 1) return undefined;
  const whole = forms.filter((form) => form.length === 2).map((form) => `${letter}${form[1]}`);
  const form = whole.find(isLegalForm);
  return form === undefined ? undefined : [form];
}

/** True for a word before a name that is one of `forms` in countries where forms come first ("AB Lorwin"). */
export function isFormBefore(word: string, forms: readonly string[]): boolean {
  return formsOf(word).some((form) => !neverLeading.has(form) && forms.includes(form));
}

/** The rest of a word that ends with one of `forms` ("siemensag"); undefined for any other word. */
export function withoutAttachedForm(word: string, forms: readonly string[]): string | undefined {
  const form = forms.find((each) => word.endsWith(each) && word.length - each.length >= 3);
  return form && word.slice(0, -form.length);
}

/**
 * Where the qualifier of a name begins: at a legal form inside it that is no ordinary word ("Philips NV, Eindhoven",
 * "Acme Inc, a Delaware corporation"). Without a qualifier: the number of words.
 */
export function qualifierStart(words: readonly string[]): number {
  const at = words.findIndex((word, index) => index > 0 && dividing.has(word));
  return at === -1 ? words.length : at;
}

/** The legal forms that a single word stands for; none for an ordinary word. */
export function formsOf(word: string): readonly string[] {
  return formsBySpelling.get(word) ?? [];
}

interface SplitName {
  /** The words without legal forms. */
  core: string[];
  /** All legal forms, sorted. */
  forms: string[];
  /** Those after the core, as written. */
  formsAtEnd: string[];
  /** A legal form comes before the name, and none after it. */
  isLeading: boolean;
}

/**
 * Separates the legal forms at the end of a name ("… Company, Inc." has two), and foreign ones at its start: strictly, only
 * those that can't be part of a US name ("NV Energy").
 */
export function splitLegalForms(words: readonly string[], isStrict = false): SplitName {
  let core = [...words];
  const formsAtEnd: string[] = [];
  for (let found = formAtEnd(core, isStrict); found; found = formAtEnd(core, isStrict)) {
    formsAtEnd.unshift(...found.forms);
    core = core.slice(0, core.length - found.length);
    if (core.length > 1 && core.at(-1) === "and") core.pop();
    // "Jones Law, a Professional Corporation"
    if (core.length > 2 && found.length > 1 && core.at(-1) === "a") core.pop();
  }
  const forms = new Set(formsAtEnd);
  const isBare = forms.size === 0;
  const first = core.length > 1 ? formAtStart(core, forms, isStrict) : undefined;
  if (first) {
    for (const form of first.forms) forms.add(form);
    core = core.slice(first.length);
  }
  return { core, forms: [...forms].sort(), formsAtEnd, isLeading: isBare && first !== undefined };
}

/**
 * Returns how many of the forms at the end of a name may be its legal form: the last, and "Company" before it. Those before are
 * words of the name, as in `Miller AG LLC`. None, where the last has two letters: `Miller AG` may be what that name is called.
 */
export function formCounts(formsAtEnd: readonly string[]): number[] {
  if (formsAtEnd.length === 0) return [0];
  const last = [3, 2].find((count) => compoundForms.has(formsAtEnd.slice(-count).join(" "))) ?? 1;
  const counts = formsAtEnd.at(-last - 1) === "co" ? [last, last + 1] : [last];
  return last === 1 && formsAtEnd.at(-1)!.length === 2 ? [0, ...counts] : counts;
}

/** Compares the legal forms of two names; `absent` where one name has none, or only some of the other's. */
export function compareLegalForms(a: readonly string[], b: readonly string[]): PartOutcome {
  const isWithin = (part: readonly string[], whole: readonly string[]) => part.every((form) => whole.includes(form));
  if (isWithin(a, b) && isWithin(b, a)) return "agrees";
  return isWithin(a, b) || isWithin(b, a) ? "absent" : "contradicts";
}

/** True where both names have a form of the same class ("Inc" and "Corp", "GmbH" and "Ltd"). */
export function areOfOneClass(a: readonly string[], b: readonly string[]): boolean {
  const isIn = (forms: readonly string[]) => (form: string) => forms.includes(form);
  return legalFormClasses.some((forms) => a.some(isIn(forms)) && b.some(isIn(forms)));
}

interface FoundForm {
  forms: readonly string[];
  length: number;
}

function formAtEnd(words: readonly string[], isStrict: boolean): FoundForm | undefined {
  const take = (length: number) => words.slice(-length).join(" ");
  const mistyped = edgeWords.has(words.at(-1)!) ? mistypedLongForm(words.length, take, isStrict) : undefined;
  if (mistyped) return mistyped;
  for (let length = Math.min(longestSpelling, words.length - 1); length > 0; length--) {
    const forms = formsBySpelling.get(length === 1 ? words.at(-1)! : take(length));
    if (forms) return { forms, length };
  }
  return undefined;
}

function formAtStart(words: readonly string[], atEnd: ReadonlySet<string>, isStrict: boolean): FoundForm | undefined {
  const take = (length: number) => words.slice(0, length).join(" ");
  for (let length = Math.min(longestBefore, words.length - 1); length > 0; length--) {
    const forms = formsBefore.get(take(length));
    if (forms) return { forms, length };
  }
  if (Object.hasOwn(formsAround, words[0]!) && formsAround[words[0]!]!.some((form) => atEnd.has(form))) {
    return { forms: [], length: 1 };
  }
  const own = formsOf(words[0]!);
  if (own.some((form) => leading.has(form) || (atEnd.size === 0 && !isStrict && leadingAlone.has(form)))) {
    return { forms: own, length: 1 };
  }
  if (atEnd.size > 0) return undefined;
  const isNear = edgeWords.has(words[0]!) || edgeWords.has(words[1]!);
  const found = isNear ? mistypedLongForm(words.length, take, isStrict) : undefined;
  return found?.forms.some((form) => !neverLeading.has(form)) ? found : undefined;
}

/** The longest form of several words that is written there, with up to two typing errors; strictly, of three or more. */
function mistypedLongForm(
  wordCount: number,
  take: (length: number) => string,
  isStrict: boolean,
): FoundForm | undefined {
  let best: FoundForm | undefined;
  for (const { text, forms, length } of longSpellings) {
    if (isStrict && length < 3) continue;
    if (length >= wordCount || length <= (best?.length ?? 0)) continue;
    const written = take(length);
    if (written[0] !== text[0] || Math.abs(written.length - text.length) > 2) continue;
    if (osaDistance(written, text, 2) <= 2) best = { forms, length };
  }
  return best;
}
