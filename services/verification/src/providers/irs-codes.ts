import { ProviderError } from "./provider.ts";

/** What the IRS's TIN matching says of a TIN and a name. */
export interface TinVerdict {
  readonly outcome: "pass" | "fail";
  /** Empty on a pass. */
  readonly reason: "" | "not_issued" | "mismatch";
}

const MATCH: TinVerdict = { outcome: "pass", reason: "" };

/** IRS Publication 2108-A: a match, whatever the type of the TIN; one on an SSN, on an EIN, on both. */
const VERDICTS: ReadonlyMap<number, TinVerdict> = new Map([
  [0, MATCH],
  [2, { outcome: "fail", reason: "not_issued" }],
  [3, { outcome: "fail", reason: "mismatch" }],
  [6, MATCH],
  [7, MATCH],
  [8, MATCH],
]);

/** A missing or malformed TIN, an invalid request, a duplicate one: the question is to blame and not the provider. */
const BLAMES_QUESTION: ReadonlySet<number> = new Set([1, 4, 5]);

/**
 * The verdict that an IRS result code stands for. Errors: ProviderError `irs_code_<code>` for the codes that are no
 * answer about the vendor (1, 4, 5), and for any that the IRS does not have.
 */
export function irsVerdict(code: number): TinVerdict {
  const verdict = VERDICTS.get(code);
  if (verdict) return verdict;
  throw new ProviderError(`irs_code_${code}`, { isFault: !BLAMES_QUESTION.has(code) });
}

/** Names longer than this are refused (Publication 2108-A). */
const MAX_NAME_LENGTH = 40;

/** Letters that no decomposition turns into Latin ones. */
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
 * A name as the IRS takes it: letters, digits, spaces, hyphens and ampersands alone, 40 characters at most. Accents are
 * dropped; apostrophes and periods vanish, since they stand inside words; any other sign parts words. The IRS compares
 * a name control of a few characters from the beginning, so a name that is cut still matches. Errors: ProviderError
 * `unusable_name` where nothing is left.
 */
export function nameForIrs(legalName: string): string {
  const prepared = legalName
    .replaceAll(/[ßẞæÆœŒøØłŁđĐðÐþÞı]/g, (letter) => SPELLED_OUT[letter]!)
    .normalize("NFKD")
    .replaceAll(/[\p{M}'’‘ʼ`´.]/gu, "")
    .replaceAll(/[‐‑‒–—−]/g, "-")
    .replaceAll(/[^A-Za-z0-9&-]+/g, " ")
    .trim()
    .slice(0, MAX_NAME_LENGTH)
    .trim();
  if (/[A-Za-z0-9]/.test(prepared)) return prepared;
  throw new ProviderError("unusable_name", { isFault: false });
}
