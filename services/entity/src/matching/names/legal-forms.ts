import { legalFormClasses, legalFormSpellings } from "./legal-form-spellings.ts";
import { osaDistance } from "./osa-distance.ts";

/** Forms that also stand before the name, and are no words or initials of US names. */
const leading = new Set(["ooo", "oao", "zao", "pao", "jsc", "nv", "bv", "srl", "llc", "uab", "kk"]);

/** Forms whose words in full begin ordinary names ("National Association of …"). */
const neverLeading = new Set(["na", "pa", "pc", "gp", "nfp"]);

/** Forms that end the name proper wherever they stand. */
const dividing = new Set([
  ...["inc", "incorporated", "llc", "llp", "lp", "ltd", "plc", "gmbh", "bv", "nv", "srl", "sarl", "oao"],
]);

const formsBySpelling = new Map(
  legalFormSpellings.flatMap(([forms, texts]) => texts.map((text) => [text, forms.split(" ")] as const)),
);
const longestSpelling = Math.max(...[...formsBySpelling.keys()].map((text) => text.split(" ").length));
const singleWords = new Set([...formsBySpelling.keys()].filter((text) => !text.includes(" ")));
const spellingsByForm = new Map(legalFormSpellings.map(([forms, texts]) => [forms, texts] as const));
/** Forms of several words, long enough to be sure of them where they are mistyped. */
const longSpellings = [...formsBySpelling]
  .map(([text, forms]) => ({ text, forms, length: text.split(" ").length }))
  .filter(({ text, length }) => length > 1 && text.length >= 15);
/** Words that begin or end a form of several words, by which a mistyped one is looked for. */
const edgeWords = new Set(longSpellings.flatMap(({ text }) => [text.split(" ")[0]!, text.split(" ").at(-1)!]));
const classByForm = new Map(
  Object.entries(legalFormClasses).flatMap(([name, forms]) => forms.map((form) => [form, name] as const)),
);

/** How the legal forms of two names relate: one without a form agrees with any, and so does a part of the other's. */
export type LegalFormOutcome = "agrees" | "absent" | "contradicts";

/** True for a word that is by itself a legal form, also inside a name ("Philips NV, Eindhoven"). */
export function isLegalForm(word: string): boolean {
  return singleWords.has(word);
}

/**
 * The one of `forms` that a word seems to be a mistyped spelling of ("Inf" of "Inc"), or the beginning that was left of
 * it ("Acme N" of "Acme N.V."); undefined when it is of none.
 */
export function mistypedForm(word: string, forms: readonly string[]): string | undefined {
  return forms.find((form) =>
    spellingsByForm.get(form)?.some((text) => {
      if (word.length === 1) return text[0] === word && text.length <= 4;
      return osaDistance(word, text, 2) <= (text.length < 6 ? 1 : 2);
    }),
  );
}

/** What is left of a word when one of `forms` is written to its end ("siemensag"); undefined when none is. */
export function withoutAttachedForm(word: string, forms: readonly string[]): string | undefined {
  const form = forms.find((each) => word.endsWith(each) && word.length - each.length >= 3);
  return form && word.slice(0, -form.length);
}

/**
 * Where the qualifier of a name begins: after a legal form inside it that is no ordinary word ("Philips NV, Eindhoven",
 * "Acme Inc, a Delaware corporation"). The number of words where there is none.
 */
export function qualifierStart(words: readonly string[]): number {
  const at = words.findIndex((word, index) => index > 0 && dividing.has(word));
  return at === -1 ? words.length : at;
}

/** The forms that a word stands for by itself; none for an ordinary word. */
export function formsOf(word: string): readonly string[] {
  return formsBySpelling.get(word) ?? [];
}

/**
 * Takes the legal forms off the end of a name ("… Company, Inc." has two), or a foreign one off its start. At least
 * one word of the name stays.
 */
export function splitLegalForms(words: readonly string[]): { core: string[]; forms: string[]; isLeading: boolean } {
  let core = [...words];
  const forms = new Set<string>();
  for (let found = formAtEnd(core); found; found = formAtEnd(core)) {
    for (const form of found.forms) forms.add(form);
    core = core.slice(0, core.length - found.length);
    if (core.length > 1 && core.at(-1) === "and") core.pop();
  }
  const first = forms.size === 0 && core.length > 1 ? formAtStart(core) : undefined;
  if (first) {
    for (const form of first.forms) forms.add(form);
    core = core.slice(first.length);
  }
  return { core, forms: [...forms].sort(), isLeading: first !== undefined };
}

export function compareLegalForms(a: readonly string[], b: readonly string[]): LegalFormOutcome {
  const isWithin = (part: readonly string[], whole: readonly string[]) => part.every((form) => whole.includes(form));
  if (isWithin(a, b) && isWithin(b, a)) return "agrees";
  return isWithin(a, b) || isWithin(b, a) ? "absent" : "contradicts";
}

/** True when two names that differ in their forms have forms of one kind ("Inc" and "Corp", "GmbH" and "Ltd"). */
export function areOfOneClass(a: readonly string[], b: readonly string[]): boolean {
  return a.some((form) => {
    const kind = classByForm.get(form);
    return kind !== undefined && b.some((other) => classByForm.get(other) === kind);
  });
}

interface FoundForm {
  forms: readonly string[];
  length: number;
}

function formAtEnd(words: readonly string[]): FoundForm | undefined {
  const take = (length: number) => words.slice(-length).join(" ");
  const mistyped = edgeWords.has(words.at(-1)!) ? mistypedLongForm(words.length, take) : undefined;
  if (mistyped) return mistyped;
  for (let length = Math.min(longestSpelling, words.length - 1); length > 0; length--) {
    const forms = formsBySpelling.get(length === 1 ? words.at(-1)! : take(length));
    if (forms) return { forms, length };
  }
  return undefined;
}

function formAtStart(words: readonly string[]): FoundForm | undefined {
  const take = (length: number) => words.slice(0, length).join(" ");
  const isNear = edgeWords.has(words[0]!) || edgeWords.has(words[1]!);
  const found = isNear ? mistypedLongForm(words.length, take) : undefined;
  if (found?.forms.some((form) => !neverLeading.has(form))) return found;
  const forms = formsBySpelling.get(words[0]!);
  return forms?.some((form) => leading.has(form)) ? { forms, length: 1 } : undefined;
}

/** A form of several words, as written or with up to two typing errors; the longest there is. */
function mistypedLongForm(wordCount: number, take: (length: number) => string): FoundForm | undefined {
  let best: FoundForm | undefined;
  for (const { text, forms, length } of longSpellings) {
    if (length >= wordCount || length <= (best?.length ?? 0)) continue;
    const written = take(length);
    if (written[0] !== text[0] || Math.abs(written.length - text.length) > 2) continue;
    if (osaDistance(written, text, 2) <= 2) best = { forms, length };
  }
  return best;
}
