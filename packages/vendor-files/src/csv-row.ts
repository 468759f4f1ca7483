const SIGN = String.raw`[=+\-@\uff1d\uff0b\uff0d\uff20]`;
/** What spreadsheets take as the beginning of a formula, also after apostrophes, and white space that they leave out. */
const START = String.raw`'*(?:\s*${SIGN}|[\t\r\n])`;
const AT_START = new RegExp(`^(?=${START})`);
const ESCAPED_AT_START = new RegExp(`^'(?=${START})`);

/**
 * Returns a row of a CSV file (RFC 4180) with its line end. Every cell is quoted. What a spreadsheet could take as a formula
 * gets an apostrophe, so that it is shown and not run.
 */
export function csvRow(cells: readonly string[], delimiter = ","): string {
  const { inside } = patternsOf(delimiter);
  const quoted = cells.map((cell) => {
    const harmless = cell.replace(AT_START, "'").replaceAll(inside, "'");
    return `"${harmless.replaceAll('"', '""')}"`;
  });
  return `${quoted.join(delimiter)}\r\n`;
}

/** Returns a function that returns a cell as it was before `csvRow` made it harmless. */
export function originalCell(delimiter: string): (cell: string) => string {
  const { escapedInside } = patternsOf(delimiter);
  return (cell) => (cell.includes("'") ? cell.replaceAll(escapedInside, "").replace(ESCAPED_AT_START, "") : cell);
}

interface Patterns {
  readonly inside: RegExp;
  readonly escapedInside: RegExp;
}

const known = new Map<string, Patterns>();

/** A spreadsheet that expects another delimiter than the file has finds more cells, each of which could be a formula. */
function patternsOf(delimiter: string): Patterns {
  let patterns = known.get(delimiter);
  if (!patterns) {
    const others = [",", ";", "\\t", "\\r", "\\n"].filter((each) => each !== delimiter.replace("\t", "\\t")).join("");
    // The sign is looked for first: white space is scanned only where one follows it.
    patterns = {
      inside: new RegExp(`(?<!')(?='*${SIGN})(?<=[${others}]\\s*)`, "g"),
      escapedInside: new RegExp(`(?<!')'(?='*${SIGN})(?<=[${others}]\\s*')`, "g"),
    };
    known.set(delimiter, patterns);
  }
  return patterns;
}
