import { maskTin } from "@vvs/identifiers";

/** What may stand between the digits of a TIN that someone wrote down. */
const SEPARATOR = "[\\s./_\\u2010-\\u2015-]?";
/** A number shorter than this tells nobody a TIN, and may be anything. */
const FEWEST_DIGITS = 5;

/**
 * A text in which a TIN of 9 digits is masked wherever it occurs and however it is written: bare, as an EIN or SSN with
 * hyphens, or as a number that lost its leading zeros. JSON stays JSON.
 */
export function maskTinIn(text: string, tin: string): string {
  const masked = maskTin(tin);
  const forms = new RegExp(formsOf(tin), "g");
  const plain = text.replaceAll(forms, masked);
  if (!isJson(text) || isJson(plain)) return plain;
  // The TIN stood there as a number, which its mask is not.
  const numbers = new RegExp(`(?<=[:[,]\\s*)(?:${formsOf(tin)})(?=\\s*[,}\\]])`, "g");
  return text.replaceAll(numbers, `"${masked}"`).replaceAll(forms, masked);
}

/** A text without these secrets, should a provider repeat them. */
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
