import { repairName } from "./written-name.ts";

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
