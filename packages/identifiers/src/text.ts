/** Control characters, and the line and paragraph separators, which break lines too. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/** Embeddings, overrides and isolates, which show the following text in another order than it is stored. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/;

/**
 * First and last code points of ranges that contain every character that can be seen, also those of later versions of
 * Unicode there, and no space, control character or character that is shown as nothing.
 */
export const visibleRanges: readonly (readonly [number, number])[] = [
  [0x21, 0x7e],
  [0xa1, 0xac],
  [0xae, 0x2ff],
  [0x370, 0x482],
  [0x48a, 0x61b],
  [0x61d, 0x115e],
  [0x1161, 0x167f],
  [0x1681, 0x17b3],
  [0x17b6, 0x180a],
  [0x1810, 0x1fff],
  [0x2010, 0x2027],
  [0x2030, 0x205e],
  [0x2070, 0x20cf],
  [0x2100, 0x27ff],
  [0x2801, 0x2fff],
  [0x3001, 0x3163],
  [0x3165, 0xd7fb],
  [0xf900, 0xfdff],
  [0xfe10, 0xfefc],
  [0xff01, 0xff9f],
  [0xffa1, 0xffef],
  [0xfff9, 0xfffd],
  [0x10000, 0x12543],
  [0x12f90, 0x14646],
  [0x16100, 0x18df2],
  [0x1aff0, 0x1b2fb],
  [0x1bc00, 0x1bc9f],
  [0x1bca4, 0x1d172],
  [0x1d17b, 0x1fbfa],
  [0x20000, 0x2ee5d],
  [0x2f800, 0x2fa1d],
  [0x30000, 0x33479],
];
const VISIBLE = new RegExp(
  `[${visibleRanges.map((range) => range.map((code) => `\\u{${code.toString(16)}}`).join("-")).join("")}]`,
  "u",
);

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
