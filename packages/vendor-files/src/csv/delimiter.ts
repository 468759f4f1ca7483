const DELIMITERS = [",", ";", "\t", "|"];
const SAMPLE_LINES = 30;

/** The first line of some exports, such as `sep=;`, which tells Excel the delimiter. */
const SEPARATOR_LINE = /^"?sep=([^\r\n"])"?[^\r\n]*(?:\r\n|\r|\n|$)/i;

/** Returns the delimiter that the text names in its first line, with that line; undefined if it names none. */
export function namedDelimiter(text: string): { readonly delimiter: string; readonly line: string } | undefined {
  const found = SEPARATOR_LINE.exec(text);
  return found ? { delimiter: found[1]!, line: found[0] } : undefined;
}

/**
 * Guesses the delimiter from the beginning of a text: the one that most lines have equally often, and of several the one
 * they have more often. A comma if there is none.
 */
export function guessDelimiter(sample: string): string {
  let best = { delimiter: ",", share: 0, count: 0 };
  for (const delimiter of DELIMITERS) {
    const counts = countsPerLine(sample, delimiter);
    for (const count of new Set(counts.filter((each) => each > 0))) {
      const share = counts.filter((each) => each === count).length / counts.length;
      if (share > best.share || (share === best.share && count > best.count)) best = { delimiter, share, count };
    }
  }
  return best.delimiter;
}

/** Counts a delimiter in each line that is not blank, without what is quoted. */
function countsPerLine(sample: string, delimiter: string): number[] {
  const counts: number[] = [];
  let count = 0;
  let isQuoted = false;
  let isBlank = true;
  let previous = delimiter;
  for (const character of sample) {
    const isLineEnd = character === "\n" || character === "\r";
    if (character === '"' && (isQuoted || previous === delimiter)) isQuoted = !isQuoted;
    else if (!isQuoted && character === delimiter) count++;
    if (!isQuoted && isLineEnd) {
      if (!isBlank) counts.push(count);
      if (counts.length === SAMPLE_LINES) break;
      [count, isBlank] = [0, true];
    } else isBlank &&= character.trim() === "";
    if (isLineEnd) previous = delimiter;
    else if (character !== " ") previous = character;
  }
  if (!isBlank && counts.length < SAMPLE_LINES) counts.push(count);
  return counts;
}
