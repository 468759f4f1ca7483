import { type IdentifierType, isWellFormed } from "@vvs/identifiers";

/**
 * What is odd about a normalized value that nothing was found for, as one sentence for a person; undefined when
 * nothing is. Never repeats the value, which may be a TIN.
 */
export function explainOddity(type: IdentifierType, normalized: string): string | undefined {
  switch (type) {
    case "uei":
      return ueiOddity(normalized);
    case "cage":
      return cageOddity(normalized);
    default:
      return isWellFormed(type, normalized)
        ? undefined
        : `A ${type.toUpperCase()} has 9 digits; this value has ${describeCharacters(normalized)}.`;
  }
}

/**
 * The digit that ends an issued UEI, from its first 11 characters (upper case). GSA says that there is one without
 * publishing how it is computed; this formula was recovered from published UEIs and holds for more than 99 in 100 of
 * them, so it hints at a typing error and never refuses.
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
  if (/[OI]/.test(uei)) return "A UEI has neither the letter O nor the letter I: check for the digits 0 and 1.";
  if (uei.startsWith("0")) return "The first character of a UEI is never 0.";
  if (/\d{9}/.test(uei)) return "A UEI never has nine digits in a row.";
  if (uei.at(-1) !== String(ueiCheckDigit(uei.slice(0, 11)))) {
    return "The check character of this UEI does not fit: check for a typing error.";
  }
  return undefined;
}

function cageOddity(cage: string): string | undefined {
  if (cage.length !== 5) return `A CAGE code has 5 characters; this value has ${cage.length}.`;
  if (!isWellFormed("cage", cage)) return "A CAGE code has letters and digits only.";
  if (/[OI]/.test(cage)) return "A CAGE code has neither the letter O nor the letter I: check for the digits 0 and 1.";
  return undefined;
}

function describeCharacters(value: string): string {
  return /^\d+$/.test(value) ? `${value.length}` : "other characters";
}
