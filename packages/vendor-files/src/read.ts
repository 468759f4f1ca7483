import { setImmediate as nextTurn } from "node:timers/promises";
import { type Column, findHeader, type Mapping, ownPlaces, readColumns } from "./columns/columns.ts";
import { readCsv } from "./csv/rows.ts";
import { type FileFormat, type FileLimits, type FileRow, VendorFileError } from "./file.ts";
import type { Problem } from "./problems.ts";
import { type Vendor, vendorReader } from "./vendors/vendor.ts";
import { readXlsx } from "./xlsx/rows.ts";

/** A vendor list that was read from a file. */
export interface VendorFile {
  /** All columns of the file, without those that an earlier run has added. */
  readonly columns: readonly Column[];
  /** The rows below the names of the columns, without blank ones. */
  readonly rows: readonly VendorRow[];
  /** What makes the list unusable until other columns are chosen. */
  readonly problems: readonly Problem[];
  /** What is worth knowing before the list is used. */
  readonly notices: readonly Problem[];
  readonly format: FileFormat;
}

export interface VendorRow {
  /** As a spreadsheet program shows it. */
  readonly number: number;
  /** As they stand in the file; one for each column. */
  readonly cells: readonly string[];
  /** Absent if the row has problems. */
  readonly vendor?: Vendor;
  readonly problems: readonly Problem[];
}

const defaultLimits: FileLimits = {
  bytes: 5_000_000,
  rows: 10_000,
  columns: 200,
  rowLength: 100_000,
  unpackedBytes: 30_000_000,
};
/** Rows of a sheet in Excel, blank ones included. */
const MAX_ROWS_OF_SHEET = 1_048_576;
/** Characters that are read before other work runs. */
const CHARACTERS_AT_A_TIME = 10_000;

/**
 * Reads a vendor list from a CSV or XLSX file. Columns are recognized by their names; a mapping overrides that. Lets other
 * work run every few milliseconds. Errors: VendorFileError if the file can't be read or exceeds a limit.
 */
export async function readVendorFile(
  bytes: Uint8Array,
  options: { mapping?: Mapping; limits?: Partial<FileLimits>; signal?: AbortSignal } = {},
): Promise<VendorFile> {
  const { mapping = {}, signal } = options;
  const limits = { ...defaultLimits, ...options.limits };
  if (bytes.length > limits.bytes) {
    throw new VendorFileError(`The file has more than ${limits.bytes / 1_000_000} MB. Split it.`);
  }
  const { format, isText, rows: all, width, notices } = await readRows(bytes, limits, signal);
  const headerAt = findHeader(all);
  const [header, ...given] = all.slice(headerAt);
  if (!header) throw new VendorFileError("The file is empty. Its first row must name the columns.");
  if (given.length > limits.rows) throw tooManyRows(limits);

  const places = ownPlaces(header.cells, width);
  const names = places.map((place) => header.cells[place]?.trim() ?? "");
  const { columns, problems, notices: columnNotices } = readColumns(names, mapping, header.number);
  const read = vendorReader(columns);
  const rows: VendorRow[] = [];
  let masked = 0;
  let length = 0;
  for (const row of given) {
    length += lengthOf(row);
    if (length > CHARACTERS_AT_A_TIME) {
      await pause(signal);
      length = 0;
    }
    const cells = places.map((place) => row.cells[place] ?? "");
    const { vendor, isTinMasked, problems: ofCells } = read(cells);
    const { number } = row;
    const ofRow = shapeProblems(row, header, isText ? format.delimiter : undefined);
    const found = [...ofRow, ...ofCells].map((problem) => ({ row: number, ...problem }));
    if (isTinMasked && found.length === 0) masked++;
    rows.push({ number, cells, problems: found, ...(found.length === 0 && { vendor }) });
  }
  if (rows.length === 0) problems.push({ message: "The list has no row below the names of its columns" });
  return {
    columns,
    rows,
    problems,
    notices: [
      ...notices,
      ...(headerAt > 0 ? [beforeHeader(all[0]!.number, header.number)] : []),
      ...columnNotices,
      ...(masked > 0 ? [maskedTins(masked, columns)] : []),
    ],
    format,
  };
}

/** Returns all rows that are not blank, and the number of cells of the widest. */
async function readRows(bytes: Uint8Array, limits: FileLimits, signal: AbortSignal | undefined) {
  const { rows: reading, ...opened } = await openRows(bytes, limits);
  const rows: FileRow[] = [];
  let [width, seen, length] = [0, 0, 0];
  for await (const row of reading) {
    signal?.throwIfAborted();
    if (++seen > MAX_ROWS_OF_SHEET) throw tooManyRows(limits);
    const used = usedWidth(row.cells);
    if (used === 0) continue;
    if (used > limits.columns) throw new VendorFileError(`Row ${row.number} has more than ${limits.columns} cells.`);
    const added = lengthOf(row);
    if (added > limits.rowLength) {
      throw new VendorFileError(`Row ${row.number} has more than ${limits.rowLength} characters.`);
    }
    length += added;
    if (length > limits.unpackedBytes) throw new VendorFileError("The cells have too much text. Split the list.");
    width = Math.max(width, used);
    rows.push(row);
    // There may be rows before the names of the columns.
    if (rows.length > limits.rows + 100) throw tooManyRows(limits);
  }
  return { ...opened, rows, width };
}

async function openRows(bytes: Uint8Array, limits: FileLimits) {
  const start = Buffer.from(bytes.subarray(0, 200)).toString("latin1");
  if (start.startsWith("PK\u0003\u0004")) {
    const { rows, notices } = await readXlsx(bytes, limits);
    const format = { delimiter: ",", bom: true };
    return { format, isText: false, rows, notices: notices.map((message): Problem => ({ message })) };
  }
  if (start.startsWith("\u00d0\u00cf\u0011\u00e0")) {
    throw new VendorFileError("This is an old Excel file (.xls), or one with a password. Save it as .xlsx or CSV.");
  }
  if (/^(?:\u00ef\u00bb\u00bf)?\s*<(?:!doctype|html|\?xml|table|meta|head)/i.test(start)) {
    throw new VendorFileError(
      "This is a web page or an XML file. Open it in a spreadsheet program, and save it as .xlsx or CSV.",
    );
  }
  return { ...readCsv(bytes, limits), isText: true, notices: [] as Problem[] };
}

const tooManyRows = ({ rows }: FileLimits) => new VendorFileError(`The list has more than ${rows} rows. Split it.`);

const lengthOf = ({ cells }: FileRow) => cells.reduce((length, cell) => length + cell.length + 1, 0);

/** Returns the number of cells up to the last that is not blank. */
const usedWidth = (cells: readonly string[]) => cells.findLastIndex((cell) => cell.trim() !== "") + 1;

/**
 * Returns what is wrong with a row as a whole: its values may stand in the wrong columns. A workbook has no delimiter, and no
 * quotation marks that can be missing.
 */
function shapeProblems({ cells }: FileRow, header: FileRow, delimiter: string | undefined): Pick<Problem, "message">[] {
  const width = header.cells.length;
  const problems = [];
  if (usedWidth(cells) > width) {
    problems.push({
      message: `has ${usedWidth(cells)} cells, but the names end at ${width}: look for a value in the wrong column`,
    });
  }
  if (delimiter && cells.some((cell) => holdsRows(cell, delimiter, width))) {
    problems.push({ message: 'seems to contain other rows: look for a missing quotation mark (")' });
  }
  return problems;
}

/** Returns whether a cell with line breaks comes from a quote that was closed by one of a later row. */
function holdsRows(cell: string, delimiter: string, width: number): boolean {
  if (!/[\r\n]/.test(cell)) return false;
  const [first, ...lines] = cell.split(/[\r\n]+/);
  return first!.startsWith('"') || (width > 3 && lines.some((line) => line.split(delimiter).length >= width));
}

function beforeHeader(first: number, header: number): Problem {
  const place = first === header - 1 ? `Row ${first} is` : `Rows ${first} to ${header - 1} are`;
  return { message: `${place} not read: row ${header} names the columns` };
}

function maskedTins(count: number, columns: readonly Column[]): Problem {
  const column = columns.find(({ field }) => field === "tin")?.name;
  const rows = count === 1 ? "1 row, whose vendor is" : `${count} rows, whose vendors are`;
  return { column, message: `is masked in ${rows} found by another identifier` };
}

async function pause(signal: AbortSignal | undefined): Promise<void> {
  await nextTurn();
  signal?.throwIfAborted();
}
