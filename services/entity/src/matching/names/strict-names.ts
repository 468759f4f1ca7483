import { wordList } from "../word-list.ts";
import { formCounts, splitLegalForms } from "./legal-forms.ts";
import { canonicalNumbers } from "./numbers.ts";
import { partsIn, preparedText, tokenize, transliterated, withoutArticles } from "./read-words.ts";

/** Words behind a person's surname, also where a comma turns the name ("Smith, John Jr"). */
const suffixes = new Set(wordList("jr sr ii iii iv"));

/** One reading of a name in which other companies' names differ: nothing of it is left out or read as something else. */
export interface StrictName {
  /** In the order in which they are said, abbreviations as written; legal forms inside the name by their codes. */
  readonly words: readonly string[];
  /** The codes of the legal forms; none in the reading where they are words. */
  readonly forms: readonly string[];
  /** The letters of scripts without spaces, as written. */
  readonly native: string;
}

/** Returns the readings of each name that a text contains: those before and after "doing business as", "formerly". */
export function strictNames(given: string): StrictName[][] {
  return partsIn(preparedText(given)).map(readStrictly);
}

/** Returns the readings of a prepared text, that with the most legal forms last. */
export function readStrictly(given: string): StrictName[] {
  const { text, native, forms: nativeForms } = transliterated(given);
  const { core, forms, formsAtEnd } = splitLegalForms(withoutArticles(tokenize(text, true)), true);
  const before = [...nativeForms, ...forms.filter((form) => !formsAtEnd.includes(form))];
  return formCounts(formsAtEnd).flatMap((count) => {
    const at = formsAtEnd.length - count;
    const own = [...new Set([...before, ...formsAtEnd.slice(at)])].sort();
    return inBothOrders(text, withoutArticles(core)).map((words) => ({
      words: canonicalNumbers([...words, ...formsAtEnd.slice(0, at)], true),
      forms: own,
      native,
    }));
  });
}

/** Returns the words as written, and as they are said where a comma turns them: "Austin, City of", "Smith, John". */
function inBothOrders(text: string, words: string[]): string[][] {
  const comma = text.indexOf(",");
  const count = comma === -1 ? 0 : withoutArticles(tokenize(text.slice(0, comma), true)).length;
  const isTurned = count > 0 && count < words.length;
  if (!isTurned) return [words];
  const end = words.length > count + 1 && suffixes.has(words.at(-1)!) ? words.length - 1 : words.length;
  return [words, [...words.slice(count, end), ...words.slice(0, count), ...words.slice(end)]];
}
