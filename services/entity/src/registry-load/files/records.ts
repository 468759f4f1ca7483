import { readLines } from "./lines.ts";
import type { Member } from "./member.ts";

/** One record of a text file; `lineNumber` is the 1-based number of its first line. */
export interface TextRecord {
  lineNumber: number;
  text: string;
}

const maxLinesPerRecord = 50;

/**
 * Splits a file into records: one per line (LF or CRLF), except that a line break inside NUL quotes belongs to the record.
 * Skips empty lines. The end-of-record mark, or too many lines, ends a record with an unclosed quote, so that such a quote
 * costs one bad record and not the rest of the file. Returns groups of records, as an iteration per record would cost more
 * than reading it. Errors: RegistryFileError if the text is not UTF-8, or a line is too long.
 */
export async function* readRecords(member: Member): AsyncGenerator<TextRecord[]> {
  let lineNumber = 0;
  let open: string[] = [];
  const closed = (): TextRecord => {
    const record = { lineNumber: lineNumber - open.length + 1, text: open.join("\n") };
    open = [];
    return record;
  };
  for await (const lines of readLines(member, { ends: "\n", fatal: true })) {
    const records: TextRecord[] = [];
    for (const line of lines.map(withoutReturn)) {
      lineNumber++;
      if (open.length === 0 && !line.includes("\0")) {
        if (line !== "") records.push({ lineNumber, text: line });
        continue;
      }
      open.push(line);
      const goesOn = !line.endsWith("!end") && open.length < maxLinesPerRecord && hasOpenQuote(open.join("\n"));
      if (!goesOn) records.push(closed());
    }
    yield records;
  }
  if (open.length > 0) yield [closed()];
}

function hasOpenQuote(text: string): boolean {
  return text.split("\0").length % 2 === 0;
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
