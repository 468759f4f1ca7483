import { wordList } from "../word-list.ts";
import type { Box } from "./parse-box.ts";
import { readHighway } from "./parse-highway.ts";
import { directionOf, isPlainSuffix, numberOf, unitOf } from "./usps.ts";

const houseNumber = /^(?:\d{1,6}[A-Z]?(?:-[A-Z0-9]{1,6})?|[A-Z]\d{1,5}|[NSEW]\d+[NSEW]\d+)$/;
const grid = /^[NSEW]\d+$/;
const beforeOtherNumbers = new Set(
  wordList(
    "HIGHWAY HWY ROUTE RTE RT ROAD INTERSTATE LOOP SPUR BOX US SR CR FM I IH SH USH STH CTH # NO MC CODE BIN FILE",
  ),
);
/** A number after these is not theirs: "10th Floor 312 Church Street". */
const endedByThemselves = new Set(["FL", "TOWER", "WING", "LEVEL", "BLDG"]);

/** The position of the house number, -1 for none: preferably before a street, else at the beginning of a line. */
export function findNumber(words: readonly string[], breaks: ReadonlySet<number>, box: Box | undefined): number {
  const isInBox = (at: number) => box !== undefined && at >= box.start && at < box.end;
  const candidates = [...words.keys()].filter((at) => !isInBox(at) && isHouseNumber(words, breaks, at));
  const isBeforeStreet = (at: number) => {
    for (let next = at + 1; next < words.length && (next === at + 1 || !breaks.has(next)); next++) {
      if (readHighway(words, next) || (next > at + 1 && isPlainSuffix(words[next]!))) return true;
      // Another number is nearer to the street.
      if (candidates.includes(next)) return false;
    }
    return false;
  };
  const found = candidates.find(isBeforeStreet) ?? candidates.find((at) => at === 0 || breaks.has(at));
  return found ?? (box ? -1 : (candidates[0] ?? -1));
}

function isHouseNumber(words: readonly string[], breaks: ReadonlySet<number>, at: number): boolean {
  // A word before a comma has no number of its own: "Office, 12 Oak St".
  const [word, before, next] = [words[at]!, breaks.has(at) ? undefined : words[at - 1], words[at + 1]];
  if (next === undefined) return false;
  if (before !== undefined) {
    if (beforeOtherNumbers.has(before) && !(before === "#" && at === 1)) return false;
    // The second number of "2928 N 2900 E Road" and of "20713 2700 N Ave" is the street.
    const isSecond = /^\d/.test((directionOf(before) ? words[at - 2] : before) ?? "");
    if (isSecond && (directionOf(before) || (directionOf(next) && isPlainSuffix(words[at + 2] ?? "")))) return false;
    if (grid.test(before) && grid.test(word)) return false;
    const unit = unitOf(before);
    if (unit && !(at > 1 && endedByThemselves.has(unit))) return false;
    // "100 W 5 St".
    if (directionOf(before) && isPlainSuffix(next)) return false;
  }
  if (houseNumber.test(word) || (grid.test(word) && grid.test(next))) return true;
  const isStreetNext = words.slice(at + 2, at + 5).some(isPlainSuffix) || readHighway(words, at + 1) !== undefined;
  return /^\d+$/.test(numberOf(word)?.digits ?? "") && isStreetNext;
}

/** Reads the house number at `at` with its fraction, letter or second half; `next` is where the street begins. */
export function readNumber(
  words: readonly string[],
  breaks: ReadonlySet<number>,
  at: number,
): { number: string; next: number } {
  const number = numberOf(words[at]!)?.digits ?? words[at]!;
  const [next, afterNext] = [words[at + 1]!, words[at + 2]];
  if (/^\d\/\d$/.test(next)) return { number: `${number} ${next}`, next: at + 2 };
  if (grid.test(number) && grid.test(next)) return { number: `${number}${next}`, next: at + 2 };
  const isLetter = /^[A-H]$/.test(next) && !directionOf(next) && !breaks.has(at + 2);
  const isName =
    afterNext !== undefined &&
    /^[A-Z0-9]{2}/.test(afterNext) &&
    !isPlainSuffix(afterNext) &&
    !unitOf(afterNext) &&
    afterNext !== "AND";
  return isLetter && isName && !/^\d+$/.test(afterNext)
    ? { number: `${number}${next}`, next: at + 2 }
    : { number, next: at + 1 };
}
