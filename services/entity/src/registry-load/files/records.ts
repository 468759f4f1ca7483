import { RegistryFileError } from "./errors.ts";
import type { Member } from "./member.ts";

/** One record of a text file; `lineNumber` is the 1-based number of its first line. */
export interface TextRecord {
  lineNumber: number;
  text: string;
}

const maxRecordCharacters = 1_000_000;
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
  for await (const lines of readLines(member)) {
    const records: TextRecord[] = [];
    for (const line of lines) {
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

async function* readLines(member: Member): AsyncGenerator<string[]> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (chunk?: Uint8Array) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      throw new RegistryFileError(`${member.name} is not UTF-8 text`, { cause });
    }
  };
  let rest = "";
  for await (const chunk of member.content) {
    const lines = (rest + decode(chunk)).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > maxRecordCharacters) throw new RegistryFileError(`${member.name} has a line that is too long`);
    yield lines.map(withoutReturn);
  }
  rest += decode();
  if (rest !== "") yield [withoutReturn(rest)];
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
