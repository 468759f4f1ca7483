/**
 * Patterns of texts as sent, for the OpenAPI document. The schemas beside them validate more exactly; a test compares both.
 */

/** Characters that no name and no address contains: control characters, line breaks, and changes of direction. */
const BANNED = String.raw`\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069`;
/** A character that can be seen. */
const VISIBLE = String.raw`[^\p{Z}\p{C}\p{M}\u115f\u1160\u3164\uffa0\u2800]`;
/** White space that is removed at both ends although it is banned inside. */
const TRIMMED = String.raw`[\t-\r \u2028\u2029]*`;
/** Spaces, and dashes of any kind, which are removed from identifiers. */
const SEPARATORS = String.raw`\s\p{Pd}\u2212`;

/** A name or an address. */
export const readablePattern = `^${TRIMMED}[^${BANNED}]*${VISIBLE}[^${BANNED}]*${TRIMMED}$`;

/** Any text that is not blank. */
export const textPattern = String.raw`^[^\u0000]*[^\s\u0000][^\u0000]*$`;

/** A text in which something is left when separators are removed. */
export const identifierPattern = String.raw`^[^\u0000]*[^${SEPARATORS}\u0000][^\u0000]*$`;

/** Returns the pattern of an identifier of exactly `length` such characters. */
export function exactIdentifierPattern(character: string, length: number): string {
  return `^[${SEPARATORS}]*(?:${character}[${SEPARATORS}]*){${length}}$`;
}

/** An absolute URL with a host name. */
export const webhookUrlPattern = String.raw`^https?://(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,63}(?::[0-9]{1,4})?(?:[/?][!-"$-\[\]-~]*)?$`;
