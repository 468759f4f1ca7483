import { sentName } from "../providers/tin-matching/irs-codes.ts";

/** Words that say nothing about whose name it is. */
const FORMS: ReadonlySet<string> = new Set(
  "the and inc incorporated corp corporation co company llc lc llp lp ltd limited pllc pc pa plc jr sr".split(" "),
);

/**
 * Returns what spellings of one name have in common: its letters and digits, sorted, without legal forms. So case, accents,
 * punctuation, spaces, the order of words and text after the first 40 characters do not change the key.
 */
export function nameKey(legalName: string): string {
  const words = sentName(legalName).toLowerCase().replaceAll(/[-.]/g, "").split(/[ &]+/);
  const own = words.filter((word) => !FORMS.has(word));
  return [...(own.join("") || words.join(""))].sort().join("");
}
