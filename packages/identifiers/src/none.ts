/** What people and exports write where there is no identifier. A UEI column cuts text off after 12 characters. */
const WORDS: ReadonlySet<string> = new Set(
  [
    "NA",
    "NONE",
    "NULL",
    "NIL",
    "NAN",
    "TBD",
    "UNK",
    "UNKNOWN",
    "UNDEFINED",
    "MISSING",
    "PENDING",
    "UNASSIGNED",
    "NOT APPLICABLE",
    "NOT APPLICABL",
    "NOT AVAILABLE",
    "NOT ASSIGNED",
    "NOT PROVIDED",
    "NOT KNOWN",
  ].map(essence),
);

/**
 * Returns whether the text of an identifier says that there is none: a word such as "N/A" or "not applicable", only zeros,
 * or no letter and no digit. Case, separators, and the digits 0 and 1 for the letters O and I make no difference.
 */
export function isNoIdentifier(text: string): boolean {
  const written = essence(text);
  return /^0*$/.test(written) || WORDS.has(written);
}

/** Returns the letters and digits of a text in upper case, with O and I as the digits for which they are mistaken. */
function essence(text: string): string {
  const written = /^[A-Z\d]*$/.test(text)
    ? text
    : text
        .normalize("NFKC")
        .replaceAll(/[^\p{L}\p{N}]/gu, "")
        .toUpperCase();
  return written.replaceAll("O", "0").replaceAll("I", "1");
}
