const DIGIT = /\p{Nd}/u;

/**
 * Returns every TIN that a text could contain: any nine digits that follow one another once everything but letters and
 * digits is left out. Digits of every script count.
 */
export function possibleTins(text: string): string[] {
  const plain = [...text.normalize("NFKC").replaceAll(/[^\p{L}\p{Nd}]/gu, "")];
  const runs = plain
    .map((character) => (DIGIT.test(character) ? digitValue(character) : " "))
    .join("")
    .split(/ +/);
  const windows = runs.flatMap((run) =>
    Array.from({ length: Math.max(0, run.length - 8) }, (_, start) => run.slice(start, start + 9)),
  );
  return [...new Set(windows)];
}

/** Returns the value of a digit. The ten digits of a script follow one another, and nothing before them is a digit. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0)!;
  let value = 0;
  while (value < 9 && DIGIT.test(String.fromCodePoint(code - value - 1))) value++;
  return value;
}
