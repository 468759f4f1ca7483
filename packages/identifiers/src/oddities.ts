import { type IdentifierType, isWellFormed } from "./index.ts";
import { isNoIdentifier } from "./none.ts";
import { isPlaceholderTin, isSandboxUei, lostZerosHint } from "./problems.ts";

const NAMES: Readonly<Record<IdentifierType, string>> = { uei: "UEI", cage: "CAGE code", duns: "DUNS", tin: "TIN" };

/**
 * Returns a sentence for people on what is wrong with a normalized value for which nothing was found, or undefined. Never
 * repeats the value, which may be a TIN.
 */
export function explainOddity(type: IdentifierType, normalized: string): string | undefined {
  if (isNoIdentifier(normalized)) return `The ${NAMES[type]} says that there is none: leave it out.`;
  if (type === "uei") return ueiOddity(normalized);
  if (type === "cage") return cageOddity(normalized);
  if (type === "tin" && isPlaceholderTin(normalized)) return "This TIN is a placeholder, which no vendor has.";
  if (isWellFormed(type, normalized)) return undefined;
  const found = /^\d+$/.test(normalized) ? normalized.length : "other characters";
  return withHint(type, normalized, `A ${NAMES[type]} has 9 digits; this value has ${found}`);
}

/**
 * Returns the check digit that ends an issued UEI, from its first 11 characters (upper case). GSA does not publish how it
 * is computed. This formula was recovered from published UEIs and holds for more than 99 % of them, so it may point out a
 * typing error but never refuse a UEI.
 */
export function ueiCheckDigit(first11: string): number {
  const weigh = (values: number[]) => values.reduce((sum, value, index) => sum + (((index + 1) * value) % 10), 0);
  let sum = weigh([...first11].map((character) => character.charCodeAt(0)));
  while (sum > 9) sum = weigh([...String(sum)].map(Number));
  return sum;
}

function ueiOddity(uei: string): string | undefined {
  if (uei.length !== 12) return `A UEI has 12 characters; this value has ${uei.length}.`;
  if (!isWellFormed("uei", uei)) return "A UEI has letters and digits only.";
  if (isSandboxUei(uei)) {
    return "UEIs that begin with SANDBX belong to the sandbox: check that the key is a test key (svc_test_…), and for a typing error.";
  }
  if (/[OI]/.test(uei)) {
    return "A UEI has neither the letter O nor the letter I: check for a typing error, such as these for the digits 0 and 1.";
  }
  if (uei.startsWith("0")) return "The first character of a UEI is never 0: check for a typing error.";
  if (/\d{9}/.test(uei)) return "A UEI never has nine digits in a row: check for a typing error.";
  if (uei.at(-1) !== String(ueiCheckDigit(uei.slice(0, 11)))) {
    return "The check character of this UEI does not fit: check for a typing error.";
  }
  return undefined;
}

function cageOddity(cage: string): string | undefined {
  if (cage.length !== 5) return withHint("cage", cage, `A CAGE code has 5 characters; this value has ${cage.length}`);
  if (!isWellFormed("cage", cage)) return "A CAGE code has letters and digits only.";
  if (/[OI]/.test(cage)) return "A CAGE code has neither the letter O nor the letter I: check for the digits 0 and 1.";
  return undefined;
}

function withHint(type: IdentifierType, normalized: string, sentence: string): string {
  return `${[sentence, lostZerosHint(type, normalized)].filter(Boolean).join(": ")}.`;
}
