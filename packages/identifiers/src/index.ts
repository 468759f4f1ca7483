import { isNoIdentifier } from "./none.ts";

export { containsTin, maskTin, maskTins } from "./mask-tin.ts";

/** Types of business identifiers in the public API, in the order in which they are used to name an unnamed entity. */
export const identifierTypes = ["uei", "cage", "duns", "tin"] as const;

export type IdentifierType = (typeof identifierTypes)[number];

/** Identifiers by type; absent where not given. */
export type IdentifierMap = { readonly [T in IdentifierType]?: string };

const FORMS: Readonly<Record<IdentifierType, { form: RegExp; text: string }>> = {
  uei: { form: /^[A-Z0-9]{12}$/, text: "12 letters and digits" },
  cage: { form: /^[A-Z0-9]{5}$/, text: "5 letters and digits" },
  duns: { form: /^\d{9}$/, text: "9 digits" },
  tin: { form: /^\d{9}$/, text: "9 digits" },
};

/** Returns an identifier in the form that is stored and compared: upper case, without spaces and dashes of any kind. */
export function normalizeIdentifier(value: string): string {
  return value.replaceAll(/[\s\p{Pd}\u2212]/gu, "").toUpperCase();
}

/**
 * Returns whether a normalized value has the form of its type, and is not text such as NOTAVAILABLE or 00000. Check
 * characters are not verified.
 */
export function isWellFormed(type: IdentifierType, normalized: string): boolean {
  return FORMS[type].form.test(normalized) && !isNoIdentifier(normalized);
}

/** Returns the form of a type in words, such as "9 digits". */
export function formOf(type: IdentifierType): string {
  return FORMS[type].text;
}
