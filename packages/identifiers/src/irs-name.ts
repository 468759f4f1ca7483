import { repairName } from "./written-name.ts";

/** Maximum length of a name, in characters; the IRS refuses longer ones (Publication 2108-A). */
const MAX_NAME_LENGTH = 40;

/** Latin spellings of letters that Unicode normalization does not decompose. */
const SPELLED_OUT: Readonly<Record<string, string>> = {
  ß: "ss",
  ẞ: "SS",
  æ: "ae",
  Æ: "AE",
  œ: "oe",
  Œ: "OE",
  ø: "o",
  Ø: "O",
  ł: "l",
  Ł: "L",
  đ: "d",
  Đ: "D",
  ð: "d",
  Ð: "D",
  þ: "th",
  Þ: "TH",
  ı: "i",
};

/**
 * Returns a name in the form that the IRS accepts: only letters, digits, spaces, hyphens and ampersands, at most 40
 * characters. A damaged encoding is repaired. Accents are dropped. Apostrophes and periods are removed, since they stand
 * inside words; any other sign becomes a space. The IRS compares the first few characters of a name (its name control), so a
 * shortened name still matches. Empty where no letter or digit is left.
 */
export function irsName(legalName: string): string {
  const prepared = repairName(legalName)
    .replaceAll(/[ßẞæÆœŒøØłŁđĐðÐþÞı]/g, (letter) => SPELLED_OUT[letter]!)
    .normalize("NFKD")
    .replaceAll(/[\p{M}'’‘ʼ`´.]/gu, "")
    .replaceAll(/[‐‑‒–—−]/g, "-")
    .replaceAll(/[^A-Za-z0-9&-]+/g, " ")
    .trim()
    .slice(0, MAX_NAME_LENGTH)
    .trim();
  return /[A-Za-z0-9]/.test(prepared) ? prepared : "";
}
