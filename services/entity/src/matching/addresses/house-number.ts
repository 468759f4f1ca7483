import type { Street } from "./parse-street.ts";

/** A range of more numbers than this is read as one number. */
const MAX_SPAN = 40;
const range = /^(\d+)-(\d+)$/;
const withUnit = /^(\d+)(?:-?([A-Z])| \d\/\d)$/;

/**
 * The numbers under which a house is found: each of a range on one side of the street ("100-104", "1333-45"), or the
 * number without letter and fraction. Two numbers agree if they have one of these in common.
 */
export function doorNumbers(number: string): string[] {
  if (number === "") return [];
  const [, first, end] = range.exec(number) ?? [];
  if (first !== undefined && end !== undefined) {
    const from = Number(first);
    const to = Number(end.length < first.length ? first.slice(0, -end.length) + end : end);
    const step = (to - from) % 2 === 0 ? 2 : 1;
    const count = from < to && to - from <= MAX_SPAN ? (to - from) / step + 1 : 0;
    return [...Array.from({ length: count }, (_, index) => String(from + index * step)), plain(number)];
  }
  return [withUnit.exec(number)?.[1] ?? plain(number)];
}

/** The units of an address, also the letter of its house number: "123A Main St" is "123 Main St, Unit A". */
export function unitsOf({ number, units }: Street): string[] {
  const letter = withUnit.exec(number)?.[2];
  return [...units, ...(letter ? [letter] : [])].map(plain);
}

/** From 0 to 1; undefined where either address has no number. Other letters are the next door. */
export function numberAgreement(asked: Street, own: Street): number | undefined {
  if (!asked.number || !own.number) return undefined;
  if (plain(asked.number) === plain(own.number)) return 1;
  const numbers = doorNumbers(own.number);
  if (!doorNumbers(asked.number).some((number) => numbers.includes(number))) return 0;
  const others = unitsOf(own);
  if (unitsOf(asked).some((unit) => others.includes(unit))) return 1;
  const isNextDoor = [asked, own].every(({ number }) => withUnit.test(number));
  return isNextDoor ? 0.7 : 0.95;
}

/** Removes hyphens and spaces: `37-28` is 3728. */
export function plain(text: string): string {
  return text.replace(/[-\s]/g, "");
}
