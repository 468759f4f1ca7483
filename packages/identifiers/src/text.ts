/** Control characters, and the line and paragraph separators, which break lines too. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/** Embeddings, overrides and isolates, which show the following text in another order than it is stored. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/;
const VISIBLE = /[^\p{Z}\p{C}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * Returns the problem of a text that people read, such as a name or an address, and how to solve it, as the end of a
 * sentence that begins with the field's name; undefined if there is none.
 */
export function textProblem(text: string): string | undefined {
  if (!text.isWellFormed()) return "must be valid Unicode";
  if (CONTROL.test(text)) return "must not contain control characters: write it in one line, without tabs";
  if (DIRECTION.test(text)) {
    return "must not contain characters that change the direction of text: remove U+202A to U+202E and U+2066 to U+2069";
  }
  if (!VISIBLE.test(text)) return "must contain a visible character, such as a letter or a digit";
  return undefined;
}

/** Returns the problem of a name that must have 1 to `maxLength` UTF-16 units, in the form of `textProblem`. */
export function nameProblem(name: string, maxLength: number): string | undefined {
  if (name.length < 1 || name.length > maxLength) return `must be 1–${maxLength} characters`;
  return textProblem(name);
}
