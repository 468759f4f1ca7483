const words = [
  ["one", "first"],
  ["two", "second"],
  ["three", "third"],
  ["four", "fourth"],
  ["five", "fifth"],
  ["six", "sixth"],
  ["seven", "seventh"],
  ["eight", "eighth"],
  ["nine", "ninth"],
  ["ten", "tenth"],
  ["eleven", "eleventh"],
  ["twelve", "twelfth"],
];
const byWord = new Map(words.flatMap((names, index) => names.map((name) => [name, String(index + 1)] as const)));
const tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const byTens = new Map(tens.map((name, index) => [name, (index + 2) * 10]));

const roman = [
  ...["ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"],
  ...["xi", "xii", "xiii", "xiv", "xv", "xvi", "xvii", "xviii", "xix", "xx"],
];
const byRoman = new Map(roman.map((numeral, index) => [numeral, String(index + 2)]));

/**
 * Words of a name with its numbers as digits: "2nd", "second" and "two" are 2, "forty four" is 44, "007" is 7, and a
 * Roman numeral counts where it is no initial: after another word, and a single letter only at the end.
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

/** The code of the last digit: letters come behind it. */
const NINE = 57;
const inside = { isFirst: true, isLast: false };

function canonicalNumber(word: string, position: { isFirst: boolean; isLast: boolean }): string {
  const digits = word.charCodeAt(0) <= NINE ? /^0*(\d+)(?:st|nd|rd|th)?$/.exec(word)?.[1] : undefined;
  if (digits) return digits;
  const named = byWord.get(word);
  if (named) return named;
  if (position.isFirst || (word.length === 1 && !position.isLast)) return word;
  return byRoman.get(word) ?? word;
}
