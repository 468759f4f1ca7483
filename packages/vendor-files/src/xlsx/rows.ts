import { format } from "numfmt";
import { type FileLimits, type FileRow, VendorFileError } from "../file.ts";
import { type Archive, damaged, openArchive } from "./archive.ts";
import { readWorkbook, unescaped, type Workbook } from "./workbook.ts";

/**
 * Reads the rows of the first visible sheet of an XLSX file. Cells are as the sheet shows them, but with all their digits.
 * Lets other work run between chunks. Errors: VendorFileError.
 */
export async function readXlsx(
  bytes: Uint8Array,
  limits: FileLimits,
): Promise<{ notices: string[]; rows: AsyncIterable<FileRow> }> {
  const archive = await openArchive(bytes, limits.unpackedBytes);
  const workbook = await readWorkbook(archive);
  const { sheets, sheetName } = workbook;
  const notices = sheets > 1 ? [`Only the first of ${sheets} sheets was read: ${sheetName}`] : [];
  return { notices, rows: readSheet(archive, workbook, limits) };
}

async function* readSheet(archive: Archive, workbook: Workbook, limits: FileLimits): AsyncGenerator<FileRow> {
  let rows: FileRow[] = [];
  let number = 0;
  let cells: string[] = [];
  let column = -1;
  let cell: SheetCell = { type: "", style: 0, text: "", formula: "" };
  let inside: "text" | "formula" | undefined;
  const reading = archive.read(workbook.sheet, {
    open(name, { r, t = "n", s = "0" }) {
      if (name === "row") {
        number = Number(r) || number + 1;
        [cells, column] = [[], -1];
      } else if (name === "c") {
        column = r ? columnOf(r) : column + 1;
        if (column < 0) throw damaged();
        if (column >= limits.columns) throw new VendorFileError(`The sheet has more than ${limits.columns} columns.`);
        cell = { type: t, style: Number(s), text: "", formula: "" };
      } else if (name === "f") inside = "formula";
      else inside = name === "v" || name === "t" ? "text" : undefined;
    },
    text(value) {
      if (inside) cell[inside] += value;
    },
    close(name) {
      inside = undefined;
      if (name === "c") {
        while (cells.length < column) cells.push("");
        cells[column] = shown(cell, workbook);
      }
      if (name === "row") rows.push({ number, cells });
    },
  });
  for await (const _ of reading) {
    yield* rows;
    rows = [];
  }
}

/** Returns the index of the column of a cell such as `AB12`. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of reference.replace(/\d+$/, "")) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

interface SheetCell {
  readonly type: string;
  readonly style: number;
  text: string;
  formula: string;
}

function shown({ type, style, text, formula }: SheetCell, workbook: Workbook): string {
  // Some programs leave it to Excel to compute the results. A text that is empty is a result.
  if (text === "") return formula !== "" && type === "n" ? `=${formula}` : "";
  if (type === "s") return workbook.strings[Number(text)] ?? "";
  if (type === "b") return text === "1" ? "TRUE" : "FALSE";
  if (type !== "n") return unescaped(text);
  const number = Number(text);
  const numberFormat = workbook.formats[style] ?? "General";
  if (!Number.isFinite(number)) return text;
  // Typing the CAGE code 123E2 makes it 12300 in this format, which is the code of another vendor.
  if (/E[+-]/i.test(numberFormat) && Math.abs(number) < 1e6) return number.toExponential().toUpperCase();
  // These show 123456789012 as 1.23457E+11.
  if (/general|@|E[+-]/i.test(numberFormat)) return String(number);
  try {
    return format(numberFormat, number);
  } catch {
    return String(number);
  }
}
