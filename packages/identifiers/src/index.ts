/** The identifiers of a business that the public contract knows, in the order in which they name a placeholder. */
export const identifierTypes = ["uei", "cage", "duns", "tin"] as const;

export type IdentifierType = (typeof identifierTypes)[number];

/** Values by type; absent where not given. */
export type IdentifierMap = { readonly [T in IdentifierType]?: string };

const FORMS: Readonly<Record<IdentifierType, { form: RegExp; text: string }>> = {
  uei: { form: /^[A-Z0-9]{12}$/, text: "12 letters and digits" },
  cage: { form: /^[A-Z0-9]{5}$/, text: "5 letters and digits" },
  duns: { form: /^\d{9}$/, text: "9 digits" },
  tin: { form: /^\d{9}$/, text: "9 digits" },
};

/** Trimmed, upper case, without the separators that people write, in any of their prints; what is stored and compared. */
export function normalizeIdentifier(value: string): string {
  return value.replaceAll(/[\s\p{Pd}\u2212]/gu, "").toUpperCase();
}

/** Has a normalized value the form of its type? Check characters are not looked at: they only give hints. */
export function isWellFormed(type: IdentifierType, normalized: string): boolean {
  return FORMS[type].form.test(normalized);
}

/** The form of a type in words, such as "9 digits". */
export function formOf(type: IdentifierType): string {
  return FORMS[type].text;
}

/** How a TIN leaves the product: **** and its last four digits. */
export function maskTin(tin: string): string {
  return `****${tin.slice(-4)}`;
}

/**
 * 9 digits, bare or as people write an EIN (12-3456789) or SSN (123-45-6789) with whatever dash or space, not part of a
 * longer word or number.
 */
const TIN_IN_TEXT =
  /(?<![\w-])(?:\d{9}|\d{2}[\p{Pd}\p{Zs}\u2212]\d{7}|\d{3}[\p{Pd}\p{Zs}\u2212]\d{2}[\p{Pd}\p{Zs}\u2212]\d{4})(?![\w-])/gu;

/** Does free text hold something that looks like a TIN? Such text is refused, since names and addresses are not masked. */
export function containsTin(text: string): boolean {
  return text.search(TIN_IN_TEXT) !== -1;
}

/** Free text with everything that looks like a TIN masked, for echoes of what a client sent. */
export function maskTins(text: string): string {
  return text.replaceAll(TIN_IN_TEXT, maskTin);
}
