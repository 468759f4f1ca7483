import { visibleRanges } from "@vvs/identifiers/text";

/**
 * Patterns of texts as sent, for the OpenAPI document. They use only what every engine of regular expressions knows, so
 * no \p{…}. The schemas beside them validate; a test compares both.
 */

/** Characters that no name and no address contains: control characters, line breaks, and changes of direction. */
const BANNED = String.raw`\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069`;
/** White space that is removed at both ends although it is banned inside. */
const TRIMMED = String.raw`[\t-\r \u2028\u2029]*`;
const SPACES = String.raw`\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`;
const DASHES = String.raw`\u058a\u05be\u1400\u1806\u2010-\u2015\u2212\u2e17\u2e1a\u2e3a\u2e3b\u2e40\u2e5d\u301c\u3030\u30a0\ufe31\ufe32\ufe58\ufe63\uff0d\-`;

const VISIBLE = `[${visibleRanges.map(([first, last]) => `${character(first)}-${character(last)}`).join("")}]`;

/** Returns a character of a class. Those beyond U+FFFF stand for themselves, because engines escape them differently. */
function character(code: number): string {
  return code > 0xffff ? String.fromCodePoint(code) : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** A text in one line, such as a client's own number. */
export const oneLinePattern = `^${TRIMMED}[^${BANNED}]*${VISIBLE}[^${BANNED}]*${TRIMMED}$`;

const [C1, HIGH, TRAIL] = [String.raw`[\u0080-\u009f]`, String.raw`[\u00a0-\u00bf]`, String.raw`[\u0080-\u00bf]`];
/** The bytes of a character in UTF-8 that were read as Latin-1, with a control character among them. */
const MISREAD = [
  String.raw`[\u00c3-\u00df]${C1}`,
  String.raw`\u00e0${HIGH}${C1}`,
  String.raw`[\u00e1\u00e3-\u00ec\u00ee\u00ef](?:${C1}${TRAIL}|${HIGH}${C1})`,
  // Not U+2028 to U+202E, and not U+2066 to U+2069.
  String.raw`\u00e2(?:[\u0082-\u009f]${TRAIL}|${HIGH}${C1}|\u0080[\u0080-\u00a7\u00af-\u00bf]|\u0081[\u0080-\u00a5\u00aa-\u00bf])`,
  String.raw`\u00ed${C1}${TRAIL}`,
  String.raw`\u00f0(?:[\u0090-\u009f]${TRAIL}{2}|${HIGH}(?:${C1}${TRAIL}|${HIGH}${C1}))`,
  String.raw`[\u00f1-\u00f3](?:${C1}${TRAIL}{2}|${HIGH}(?:${C1}${TRAIL}|${HIGH}${C1}))`,
  String.raw`\u00f4[\u0080-\u008f]${TRAIL}{2}`,
].join("|");
/** Those of Latin, Greek, Cyrillic and Chinese letters, and of pictures. */
const MISREAD_VISIBLE = String.raw`[\u00c3-\u00cb\u00ce-\u00d1]${C1}|[\u00e4-\u00e9](?:${C1}${TRAIL}|${HIGH}${C1})|\u00f0\u009f[\u008c-\u0099]${TRAIL}`;
const READABLE = `(?:[^${BANNED}]|${MISREAD})*`;

/** A name or an address, also one whose UTF-8 was read as Latin-1. */
export const readablePattern = `^${TRIMMED}${READABLE}(?:${VISIBLE}|${MISREAD_VISIBLE})${READABLE}${TRIMMED}$`;

/** Any text that is not blank. */
export const textPattern = String.raw`^[^\u0000]*[^${SPACES}\u0000][^\u0000]*$`;

/** Returns the pattern of an identifier of exactly `length` such characters. */
export function exactIdentifierPattern(one: string, length: number): string {
  return `^[${SPACES}${DASHES}]*(?:${one}[${SPACES}${DASHES}]*){${length}}$`;
}

/** An absolute URL with a host name. */
export const webhookUrlPattern = String.raw`^https?://(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,63}(?::[0-9]{1,4})?(?:[/?][!-"$-\[\]-~]*)?$`;
