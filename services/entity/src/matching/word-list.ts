/** Splits a text of words over one or more lines. */
export function wordList(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** Splits a text into the words of each line. */
export function wordTable(text: string): string[][] {
  return text.trim().split("\n").map(wordList);
}
