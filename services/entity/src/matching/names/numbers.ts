import { wordList } from "../word-list.ts";

const cardinals = wordList("one two three four five six seven eight nine ten eleven twelve");
const ordinals = wordList("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth");
const named = new Map(
  [cardinals, ordinals].flatMap((words) =>
    words.map((word, index) => [word, { digits: String(index + 1), isOrdinal: words === ordinals }] as const),
  ),
);
const tens = wordList("twenty thirty forty fifty sixty seventy eighty ninety");
const byTens = new Map(tens.map((name, index) => [name, (index + 2) * 10]));
/** From 2 on: "i" is an initial. */
const roman = wordList("ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx");
const byRoman = new Map(roman.map((word, index) => [word, String(index + 2)]));
/** Words before a number. Elsewhere a letter is a letter ("Studio X"). */
const series = new Set(
  wordList(`
    acquisition associates capital class credit equity fund funding funds holdings investments investors mortgage opportunities
    partners phase portfolio properties realty series trust venture ventures
  `),
);

/**
 * Writes the numbers among the words of a name as digits: "2nd", "second" and "two" are 2, "forty four" is 44, "007" is
 * 7. A Roman numeral counts only after another word, and a single letter only at the end: elsewhere it may be an initial.
 * Strictly, "2nd" is "second" but not 2, and a numeral of `V` and `X` only counts only after a word such as "Fund".
 */
export function canonicalNumbers(names: readonly string[], isStrict = false): string[] {
  const written: string[] = [];
  for (let at = 0; at < names.length; at++) {
    const word = names[at]!;
    const ten = byTens.get(word);
    const unit = ten === undefined ? undefined : numberOf(names[at + 1] ?? "");
    const isCompound = unit !== undefined && /^[1-9]$/.test(unit.digits);
    const number = isCompound
      ? { ...unit, digits: String(ten! + Number(unit.digits)) }
      : ten === undefined
        ? numberOf(word)
        : { digits: String(ten), isOrdinal: false };
    written.push(number ? textOf(number, isStrict) : (romanNumber(names, at, isStrict) ?? word));
    if (isCompound) at++;
  }
  return written;
}

/** Returns the words as letters where a number of them has a name: 1 is "one". */
export function inLetters(words: readonly string[]): string {
  return words.map((word) => (/^\d+$/.test(word) && cardinals[Number(word) - 1]) || word).join("");
}

interface WrittenNumber {
  readonly digits: string;
  readonly isOrdinal: boolean;
}

/** The number that a word in digits or letters is. */
function numberOf(word: string): WrittenNumber | undefined {
  // Words that begin with a letter are not worth a regular expression.
  const [, digits, ending] = (word < ":" && /^0*(\d+)(st|nd|rd|th)?$/.exec(word)) || [];
  return digits ? { digits, isOrdinal: ending !== undefined } : named.get(word);
}

function textOf({ digits, isOrdinal }: WrittenNumber, isStrict: boolean): string {
  if (!isOrdinal || !isStrict) return digits;
  // In letters, so that "First Energy" has those of "FirstEnergy".
  return ordinals[Number(digits) - 1] ?? `${digits}th`;
}

function romanNumber(names: readonly string[], at: number, isStrict: boolean): string | undefined {
  const word = names[at]!;
  if (at === 0 || (word.length === 1 && at < names.length - 1)) return undefined;
  return isStrict && !word.includes("i") && !series.has(names[at - 1]!) ? undefined : byRoman.get(word);
}
