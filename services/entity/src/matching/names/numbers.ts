import { wordList } from "../word-list.ts";

const cardinals = wordList("one two three four five six seven eight nine ten eleven twelve");
const ordinals = wordList("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth");
const byWord = new Map([cardinals, ordinals].flatMap((words) => numbered(words, 1)));
const tens = wordList("twenty thirty forty fifty sixty seventy eighty ninety");
const byTens = new Map(tens.map((name, index) => [name, (index + 2) * 10]));
/** From 2 on: "i" is an initial. */
const roman = wordList("ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx");
const byRoman = new Map(numbered(roman, 2));

function numbered(words: readonly string[], first: number): (readonly [string, string])[] {
  return words.map((word, index) => [word, String(index + first)]);
}

/**
 * Writes the numbers among the words of a name as digits: "2nd", "second" and "two" are 2, "forty four" is 44, "007" is
 * 7. A Roman numeral counts only after another word, and a single letter only at the end: elsewhere it may be an initial.
 */
export function canonicalNumbers(names: readonly string[]): string[] {
  const written: string[] = [];
  for (let at = 0; at < names.length; at++) {
    const word = canonicalNumber(names[at]!, { isFirst: at === 0, isLast: at === names.length - 1 });
    const ten = byTens.get(names[at]!);
    const unit = ten !== undefined && at + 1 < names.length ? canonicalNumber(names[at + 1]!, inside) : "";
    if (/^[1-9]$/.test(unit)) {
      written.push(String(ten! + Number(unit)));
      at++;
    } else written.push(ten === undefined ? word : String(ten));
  }
  return written;
}

const inside = { isFirst: true, isLast: false };

function canonicalNumber(word: string, position: { isFirst: boolean; isLast: boolean }): string {
  // Words that begin with a letter are not worth a regular expression.
  const digits = word < ":" ? /^0*(\d+)(?:st|nd|rd|th)?$/.exec(word)?.[1] : undefined;
  if (digits) return digits;
  const named = byWord.get(word);
  if (named) return named;
  if (position.isFirst || (word.length === 1 && !position.isLast)) return word;
  return byRoman.get(word) ?? word;
}
