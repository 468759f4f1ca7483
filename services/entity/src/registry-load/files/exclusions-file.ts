import { basename } from "node:path";
import { Readable } from "node:stream";
import { parse } from "csv-parse";
import { parse as parseAtOnce } from "csv-parse/sync";
import { fromOrdinalDate, type IsoDate } from "../../model/dates.ts";
import type { OnProgress } from "../progress-display.ts";
import { RegistryFileError } from "./errors.ts";
import { type Columns, findColumns, type ParsedExclusion, parseExclusion } from "./exclusion-row.ts";
import { type LoadedFile, type Member, openMember, sha256OfFile } from "./member.ts";
import { createRowTally } from "./row-tally.ts";
import { countOf, createCodeCollector } from "./sorted-codes.ts";

/** What a row says, with the 1-based number of its first line. */
export interface ExclusionItem extends ParsedExclusion {
  readonly lineNumber: number;
}

const maxRecordCharacters = 1_000_000;
const quoting = {
  bom: true,
  relax_quotes: true,
  relax_column_count: true,
  skip_empty_lines: true,
  // A file may mix them: a row that was added by hand often has another line end than the rows before it.
  record_delimiter: ["\r\n", "\n", "\r"],
};
const startOfRow = /^"?(firm|individual|vessel|special entity designation)"?,/i;

/** An exclusions file that was read to its end and is sound. */
export interface ExclusionsFile extends LoadedFile {
  /** Returns how many rows of the file have a key. */
  countOf(key: string): number;
}

/**
 * Reads a whole exclusions file (CSV, or a ZIP with exactly one) and checks that it has the needed columns and a date, and
 * that few rows can't be read; `rows` is the number of the others. Memory: 8 bytes per row that names a UEI or a CAGE.
 * Errors: RegistryFileError with the reason why the file must not be loaded.
 */
export async function validateExclusions(path: string, onProgress: OnProgress = () => {}): Promise<ExclusionsFile> {
  const fileName = basename(path);
  const tally = createRowTally();
  const keys = createCodeCollector();
  let latest: IsoDate | undefined;
  const sha256 = await sha256OfFile(path);
  const member = await openMember(path, ".csv");
  for await (const { lineNumber, unreadable, creationDate, row } of readMember(member, fileName)) {
    onProgress({ phase: "checking", done: member.readBytes, total: member.size });
    tally.add(lineNumber, unreadable?.reason);
    if (row) keys.add(codeOf(row.key));
    if (creationDate && creationDate > (latest ?? "")) latest = creationDate;
  }
  const { readable: rows } = tally.finish(fileName);
  const cutDate = exclusionsCutDate(fileName, member.name, latest);
  if (!cutDate) {
    throw new RegistryFileError(`${fileName}: neither its name (_YYDDD) nor its Creation_Date column gives its date`);
  }
  const sorted = keys.finish();
  return { fileName, cutDate, rows, sha256, isComplete: true, countOf: (key) => countOf(sorted, codeOf(key)) };
}

/** Returns the beginning of a row's key as a number. */
function codeOf(key: string): bigint {
  return Buffer.from(key, "base64url").readBigUInt64BE();
}

/** Reads the rows of an exclusions file that validateExclusions has accepted, in constant memory. */
export async function* readExclusions(path: string): AsyncGenerator<ExclusionItem> {
  yield* readMember(await openMember(path, ".csv"), basename(path));
}

/**
 * Returns the date of an exclusions file: by its own name or that of its ZIP member (`…_YYDDD.CSV`: the year and the day
 * in it), otherwise the latest creation date of its rows.
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
  // pipe() does not pass on errors.
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
    throw new RegistryFileError(`${fileName} is not a CSV file: it can't be read after line ${lastLine}`, { cause });
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
    throw new RegistryFileError(`${fileName} is not an exclusions file: it lacks ${columns.missing.join(", ")}`);
  }
  return columns;
}

/** Reads a record again line by line if it has swallowed the rows after it, because of a quote that was never closed. */
function* itemsOf(record: string[], raw: string, lineNumber: number, columns: Columns): Generator<ExclusionItem> {
  const lines = raw.split(/\r?\n/).filter((line) => line !== "");
  const rows = lines.slice(1).some((line) => startOfRow.test(line)) ? lines.map(splitLine) : [record];
  for (const [index, fields] of rows.entries()) {
    const whole = fields.length < columns.count ? splitQuoted(rows.length > 1 ? lines[index]! : raw) : fields;
    yield { lineNumber: lineNumber + index, ...parseExclusion(whole.length < columns.count ? fields : whole, columns) };
  }
}

/** Splits a row with a quote that is never closed, which has swallowed the fields after it. */
function splitQuoted(line: string): string[] {
  return line.trim().replace(/^"|"$/g, "").split(/"?,"/);
}

function splitLine(line: string): string[] {
  try {
    return parseAtOnce(line, quoting)[0] ?? [];
  } catch {
    return [];
  }
}
