import type { NormalizedName } from "../matching/names/normalize-name.ts";

/** Is a name its telling words and its legal forms, and nothing else, so that they give it back as it was normalized? */
export function isPlain(name: NormalizedName, words: readonly string[]): boolean {
  const { coreTokens, keys, alternatives, qualifierFrom } = name;
  return (
    coreTokens.length > 0 &&
    coreTokens.length === words.length &&
    qualifierFrom === words.length &&
    keys.length === 1 &&
    keys[0] === coreTokens.join(" ") &&
    alternatives.length === 0
  );
}

/** A plain name from its words and its legal forms. */
export function plainName(words: string[], legalForms: string[]): NormalizedName {
  const key = words.join(" ");
  return { key, keys: [key], coreTokens: words, legalForms, qualifierFrom: words.length, alternatives: [] };
}
