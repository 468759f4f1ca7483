import { basename } from "node:path";
import { Readable } from "node:stream";
import { parse } from "csv-parse";
import { parse as parseAtOnce } from "csv-parse/sync";
import { fromOrdinalDate, type IsoDate } from "../../model/dates.ts";
import type { OnProgress } from "../progress.ts";
import { RegistryFileError } from "./errors.ts";
import { type Columns, type ExclusionRow, findColumns, parseExclusion } from "./exclusion-row.ts";
import { type Member, openMember, sha256OfFile } from "./member.ts";

/** What is known of an exclusions file that was read to its end. */
export interface ExclusionsFile {
  fileName: string;
  /** The day whose exclusions the file holds. */
  cutDate: IsoDate;
  /** Rows that are good; `badRows` are left out of it. */
  rows: number;
  badRows: number;
  /** SHA-256, in hex, of the file as given (of the ZIP, where it is one). */
  sha256: string;
}

export type ExclusionItem =
  | { kind: "row"; lineNumber: number; row: ExclusionRow }
  | { kind: "bad"; lineNumber: number; reason: string };

const maxRecordCharacters = 1_000_000;
/** Of all kinds in one file, too: a row that was added by hand often ends another way than those before it. */
const lineEnds = ["\r\n", "\n", "\r"];
const quoting = {
  bom: true,
  relax_quotes: true,
  relax_column_count: true,
  skip_empty_lines: true,
  record_delimiter: lineEnds,
};
const startOfRow = /^"?(firm|individual|vessel|special entity designation)"?,/i;

/**
 * Reads a whole exclusions file (CSV, or a ZIP with exactly one) and checks that it has the needed columns and at
 * least one good row, and that its date can be told.
 *
 * @throws RegistryFileError saying why the file must not be loaded.
 */
export async function validateExclusions(path: string, onProgress: OnProgress = () => {}): Promise<ExclusionsFile> {
  const fileName = basename(path);
  let rows = 0;
  let badRows = 0;
  let latest: IsoDate | undefined;
  const member = await openMember(path, ".csv");
  for await (const item of readMember(member, fileName)) {
    onProgress({ phase: "checking", done: member.readBytes, total: member.size });
    if (item.kind === "bad") {
      badRows++;
      continue;
    }
    rows++;
    const { creationDate } = item.row;
    if (creationDate && (latest === undefined || creationDate > latest)) latest = creationDate;
  }
  if (rows === 0) throw new RegistryFileError(`${fileName} holds no exclusion`);
  const cutDate = exclusionsCutDate(fileName, member.name, latest);
  if (!cutDate) {
    throw new RegistryFileError(`${fileName}: neither its name (_YYDDD) nor its Creation_Date column tells its date`);
  }
  return { fileName, cutDate, rows, badRows, sha256: await sha256OfFile(path) };
}

/**
 * The rows of an exclusions file, one after the other, in constant memory. Meant for a file that
 * {@link validateExclusions} accepted.
 */
export async function* readExclusions(path: string): AsyncGenerator<ExclusionItem> {
  yield* readMember(await openMember(path, ".csv"), basename(path));
}

/**
 * The date of an exclusions file: from its own name or its ZIP member's (`…_YYDDD.CSV`: a year and the day in it), else
 * the latest creation date of its rows. Undefined when none of them tells.
 */
export function exclusionsCutDate(fileName: string, memberName: string, latest: IsoDate | undefined) {
  for (const name of [fileName, memberName]) {
    const digits = /_(\d{5})\.(?:csv|zip)$/i.exec(name)?.[1];
    const date = digits && fromOrdinalDate(digits);
    if (date) return date;
  }
  return latest;
}

async function* readMember(member: Member, fileName: string): AsyncGenerator<ExclusionItem> {
  const parser = parse({ ...quoting, info: true, raw: true, max_record_size: maxRecordCharacters });
  const source = Readable.from(member.content);
  // pipe() hands no error on, and the reader below must see the source's.
  source.once("error", (error) => parser.destroy(error));
  source.pipe(parser);
  let columns: Columns | undefined;
  let lastLine = 0;
  try {
    for await (const { record, raw, info } of parser as AsyncIterable<CsvRecord>) {
      const lineNumber = lastLine + 1;
      lastLine = info.lines;
      if (!columns) columns = columnsOf(record, fileName);
      else yield* itemsOf(record, raw, lineNumber, columns);
    }
  } catch (cause) {
    if (cause instanceof RegistryFileError) throw cause;
    throw new RegistryFileError(`${fileName} is no CSV file: it breaks after line ${lastLine}`, { cause });
  } finally {
    source.destroy();
  }
  if (!columns) throw new RegistryFileError(`${fileName} is empty`);
}

interface CsvRecord {
  record: string[];
  raw: string;
  info: { lines: number };
}

function columnsOf(header: string[], fileName: string): Columns {
  const columns = findColumns(header);
  if ("missing" in columns) {
    throw new RegistryFileError(`${fileName} is no exclusions file: it lacks ${columns.missing.join(", ")}`);
  }
  return columns;
}

/** A quote that was never closed swallows the rows after it: such a record is read again, line by line. */
function* itemsOf(record: string[], raw: string, lineNumber: number, columns: Columns): Generator<ExclusionItem> {
  const lines = raw.split(/\r?\n/).filter((line) => line !== "");
  if (lines.length > 1 && lines.slice(1).some((line) => startOfRow.test(line))) {
    for (const [index, line] of lines.entries()) yield itemOf(splitLine(line), lineNumber + index, columns);
  } else {
    yield itemOf(record, lineNumber, columns);
  }
}

function itemOf(fields: string[], lineNumber: number, columns: Columns): ExclusionItem {
  const parsed = parseExclusion(fields, columns);
  return "row" in parsed
    ? { kind: "row", lineNumber, row: parsed.row }
    : { kind: "bad", lineNumber, reason: parsed.reason };
}

function splitLine(line: string): string[] {
  try {
    return parseAtOnce(line, quoting)[0] ?? [];
  } catch {
    return [];
  }
}
