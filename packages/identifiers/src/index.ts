import { isNoIdentifier } from "./none.ts";
import { repairName } from "./written-name.ts";

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

/** Returns a TIN as it may leave the product: **** and its last four digits. */
export function maskTin(tin: string): string {
  return `****${tin.slice(-4)}`;
}

/** A digit of any script, with invisible characters after it. */
const DIGIT = String.raw`[\p{Nd}\p{No}][\p{Default_Ignorable_Code_Point}\p{M}]*`;
/** A dash, dot, slash or underscore in any of their forms. */
const MARK = String.raw`[\p{Pd}\u2212._\/\\\u00b7\u2022\u2024\u2027\u2044\u2215\u3002\u30fb\uff0e\uff0f\uff3c\uff61\uff65]`;
const SEPARATOR = String.raw`(?:\p{Zs}{1,3}|\p{Zs}{0,3}${MARK}\p{Zs}{0,3})[\p{Default_Ignorable_Code_Point}\p{M}]*`;
const digits = (count: number) => `(?:${DIGIT}){${count}}`;

/** 9 digits, plain or written as an EIN (12-3456789) or SSN (123-45-6789), not part of a longer word or number. */
const TIN_IN_TEXT = new RegExp(
  String.raw`(?<![\w\p{N}-])(?:${digits(9)}|${digits(2)}${SEPARATOR}${digits(7)}|${digits(3)}${SEPARATOR}${digits(2)}${SEPARATOR}${digits(4)})(?![\w\p{N}-])`,
  "gu",
);

/**
 * Returns whether free text contains something like a TIN. Such text is refused, since names and addresses are not
 * masked.
 */
export function containsTin(text: string): boolean {
  // A TIN in HTML entities would be sent, and shown, as digits.
  return [text, repairName(text)].some((written) => written.search(TIN_IN_TEXT) !== -1);
}

/** Returns free text with everything like a TIN masked, for answers that repeat a client's input. */
export function maskTins(text: string): string {
  return text.replaceAll(TIN_IN_TEXT, (tin) => `****${[...tin.matchAll(/[\p{Nd}\p{No}]/gu)].slice(-4).join("")}`);
}
