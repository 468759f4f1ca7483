import { basename } from "node:path";
import { parse } from "csv-parse/sync";
import { fromOrdinalDate, type IsoDate } from "../../model/dates.ts";
import { RegistryFileError } from "./errors.ts";
import { type Columns, checkExclusion, findColumns, type ParsedExclusion, parseExclusion } from "./exclusion-row.ts";
import { readLines } from "./lines.ts";
import { type LoadedFile, type Member, openMember, sha256OfFile } from "./member.ts";
import type { OnProgress } from "./progress-display.ts";
import { createRowTally } from "./row-tally.ts";
import { countOf, createCodeCollector } from "./sorted-codes.ts";

/** A row with the 1-based number of its first line. */
type Numbered<Row> = Row & { readonly lineNumber: number };

export type ExclusionItem = Numbered<ParsedExclusion>;

type ReadRow<Row> = (fields: readonly string[], columns: Columns) => Row;

const maxLinesPerRow = 50;
/**
 * A file may mix them: a row that was added by hand often has another end than the rows before it. A return at the end of what
 * is read may be half of one.
 */
const LINE_ENDS = /\r\n|\n|\r(?!$)/;
const quoting = { relax_quotes: true, relax_column_count: true };
const startOfRow = /^"?(firm|individual|vessel|special entity designation)"?,/i;

/** An exclusions file that was read to its end and is sound. */
export interface ExclusionsFile extends LoadedFile {
  /** Number of readable rows without a UEI and a CAGE. */
  readonly unidentified: number;
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
  let unidentified = 0;
  const sha256 = await sha256OfFile(path);
  const member = await openMember(path, ".csv");
  for await (const { lineNumber, unreadable, creationDate, key } of readMember(member, checkExclusion)) {
    onProgress({ phase: "checking", done: member.readBytes, total: member.size });
    tally.add(lineNumber, unreadable?.reason);
    if (key !== undefined) keys.add(codeOf(key));
    else if (!unreadable) unidentified++;
    if (creationDate && creationDate > (latest ?? "")) latest = creationDate;
  }
  const { readable: rows } = tally.finish(fileName);
  const cutDate = exclusionsCutDate(fileName, member.name, latest);
  if (!cutDate) {
    throw new RegistryFileError(`${fileName}: neither its name (_YYDDD) nor its Creation_Date column gives its date`);
  }
  const sorted = keys.finish();
  const known = { fileName, cutDate, rows, sha256, isComplete: true, unidentified };
  return { ...known, countOf: (key) => countOf(sorted, codeOf(key)) };
}

/** Returns the beginning of a row's key as a number. */
export function codeOf(key: string): bigint {
  return Buffer.from(key, "base64url").readBigUInt64BE();
}

/** Reads the rows of an exclusions file that validateExclusions has accepted, in constant memory. */
export async function* readExclusions(path: string): AsyncGenerator<ExclusionItem> {
  yield* readMember(await openMember(path, ".csv"), parseExclusion);
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

async function* readMember<Row extends object>(member: Member, read: ReadRow<Row>): AsyncGenerator<Numbered<Row>> {
  let columns: Columns | undefined;
  let lineNumber = 0;
  /** Lines that are not a row by themselves, until one that is. */
  let open: string[] = [];
  let openedAt = 0;
  for await (const lines of readLines(member, { ends: LINE_ENDS })) {
    for (const line of lines) {
      lineNumber++;
      if (line === "") continue;
      if (!columns) {
        columns = columnsOf(splitLine(line), member.name);
        continue;
      }
      const fields = plainFields(line, columns.count);
      if (open.length > 0 && (fields || startOfRow.test(line) || open.length === maxLinesPerRow)) {
        yield* rowsOf(open, openedAt, columns, read);
        open = [];
      }
      if (fields) yield { ...read(fields, columns), lineNumber };
      else {
        if (open.length === 0) openedAt = lineNumber;
        open.push(line);
      }
    }
  }
  if (!columns) throw new RegistryFileError(`${member.name} is empty`);
  if (open.length > 0) yield* rowsOf(open, openedAt, columns, read);
}

/** Returns the fields of a line that needs no parser, as nearly all lines do; undefined for any other. */
function plainFields(line: string, count: number): string[] | undefined {
  const isQuoted = line.startsWith('"') && line.endsWith('"');
  const fields = isQuoted ? line.slice(1, -1).split('","') : line.split(",");
  return fields.length === count && !fields.some((field) => field.includes('"')) ? fields : undefined;
}

function columnsOf(header: string[], fileName: string): Columns {
  const columns = findColumns(header);
  if ("missing" in columns) {
    throw new RegistryFileError(`${fileName} is not an exclusions file: it lacks ${columns.missing.join(", ")}`);
  }
  return columns;
}

/** Reads lines that are one row with line breaks, or a row each. A quote that is never closed swallows no other row. */
function* rowsOf<Row extends object>(
  lines: readonly string[],
  openedAt: number,
  columns: Columns,
  read: ReadRow<Row>,
): Generator<Numbered<Row>> {
  const together = lines.length > 1 ? splitLine(lines.join("\n")) : [];
  const rows = together.length >= columns.count ? [together] : lines.map(splitLine);
  for (const [index, fields] of rows.entries()) {
    const whole = fields.length < columns.count ? splitQuoted(lines[index]!) : fields;
    const row = read(whole.length < columns.count ? fields : whole, columns);
    yield { ...row, lineNumber: openedAt + index };
  }
}

/** Splits a row with a quote that is never closed, which has swallowed the fields after it. */
function splitQuoted(line: string): string[] {
  return line.trim().replace(/^"|"$/g, "").split(/"?,"/);
}

/** Returns the fields of the first row of a text; none if it has another one, or can't be read. */
function splitLine(text: string): string[] {
  try {
    const [fields = [], ...others] = parse(text, quoting);
    return others.length === 0 ? fields : [];
  } catch {
    return [];
  }
}
