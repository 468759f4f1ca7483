import type { NormalizedName } from "../matching/names/normalize-name.ts";

/** True where a name can be restored from its words and legal forms: it has no particles, readings or qualifiers. */
export function isPlain(name: NormalizedName, words: readonly string[]): boolean {
  const { coreTokens, keys, native, alternatives, qualifierFrom } = name;
  return (
    coreTokens.length > 0 &&
    coreTokens.length === words.length &&
    qualifierFrom === words.length &&
    keys.length === 1 &&
    keys[0] === coreTokens.join(" ") &&
    native === "" &&
    alternatives.length === 0
  );
}

/** Restores a plain name. */
export function plainName(words: string[], legalForms: string[]): NormalizedName {
  const key = words.join(" ");
  return { key, keys: [key], coreTokens: words, legalForms, qualifierFrom: words.length, native: "", alternatives: [] };
}
