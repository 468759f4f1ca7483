import { maskTin } from "@vvs/identifiers";

/** Separators that may stand between the digits of a written TIN. */
const SEPARATOR = "[\\s./_\\u2010-\\u2015-]?";
/** A TIN without its leading zeros is masked only if it has this many digits; a shorter number could be anything. */
const FEWEST_DIGITS = 5;

/**
 * Masks a 9-digit TIN in a text, wherever it occurs and however it is written: plain, with separators as an EIN or SSN,
 * or as a number without its leading zeros. JSON stays valid JSON.
 */
export function maskTinIn(text: string, tin: string): string {
  const masked = maskTin(tin);
  const forms = new RegExp(formsOf(tin), "g");
  const plain = text.replaceAll(forms, masked);
  if (!isJson(text) || isJson(plain)) return plain;
  // The TIN was a JSON number, and its mask is not a number: put it in quotes.
  const numbers = new RegExp(`(?<=[:[,]\\s*)(?:${formsOf(tin)})(?=\\s*[,}\\]])`, "g");
  return text.replaceAll(numbers, `"${masked}"`).replaceAll(forms, masked);
}

/** Masks secrets in a text, in case a provider repeats them. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  return secrets.filter((secret) => secret !== "").reduce((left, secret) => left.replaceAll(secret, "****"), text);
}

function formsOf(tin: string): string {
  const written = [...tin].join(SEPARATOR);
  const shortened = tin.replace(/^0+/, "");
  return shortened === tin || shortened.length < FEWEST_DIGITS ? written : `${written}|(?<!\\d)${shortened}(?!\\d)`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
