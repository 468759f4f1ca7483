import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type CsvError, parse } from "csv-parse";
import { originalCell } from "../csv-row.ts";
import { type FileFormat, type FileLimits, type FileRow, VendorFileError } from "../file.ts";
import { guessDelimiter, namedDelimiter } from "./delimiter.ts";
import { readText } from "./text.ts";

/** The parser returns whole rows, however many cells they have. */
const MAX_CELLS_OF_LINE = 10_000;

/**
 * Reads the rows of a CSV file: of any encoding, delimiter and line end that spreadsheets write. Lets other work run
 * between slices of 4 kB. Errors: VendorFileError.
 */
export function readCsv(bytes: Uint8Array, limits: FileLimits): { format: FileFormat; rows: AsyncIterable<FileRow> } {
  const text = readText(bytes);
  const [sample = ""] = text.slices();
  const named = namedDelimiter(sample);
  const delimiter = named?.delimiter ?? guessDelimiter(sample);

  async function* slices() {
    let start = named?.line.length ?? 0;
    let cells = 0;
    for (const slice of text.slices()) {
      cells = /[\r\n]/.test(slice) ? 0 : cells + slice.split(delimiter).length;
      if (cells > MAX_CELLS_OF_LINE)
        throw new VendorFileError(`The file has a row of more than ${limits.columns} cells.`);
      yield slice.slice(start);
      start = 0;
      await nextTurn();
    }
  }

  async function* rows(): AsyncGenerator<FileRow> {
    const original = originalCell(delimiter);
    let number = 0;
    const parser = parse({
      delimiter,
      // Only before the quotes: what follows them would make the row invalid.
      ltrim: true,
      relax_quotes: true,
      relax_column_count: true,
      record_delimiter: ["\r\n", "\n", "\r"],
      max_record_size: limits.rowLength,
    });
    const source = Readable.from(slices());
    source.once("error", (error) => parser.destroy(error));
    try {
      for await (const cells of source.pipe(parser)) yield { number: ++number, cells: cells.map(original) };
    } catch (error) {
      const { code, records } = error as CsvError & { records?: number };
      if (!code?.startsWith("CSV_")) throw error;
      const isTooLong = code === "CSV_MAX_RECORD_SIZE";
      const what = isTooLong ? `has more than ${limits.rowLength} characters` : "begins a quoted cell that never ends";
      const text = `Row ${(records ?? number) + 1} ${what}. Look for a missing quotation mark (").`;
      throw new VendorFileError(text, { cause: error });
    } finally {
      source.destroy();
    }
  }

  return { format: { delimiter, bom: text.hasBom || text.encoding !== "utf-8" }, rows: rows() };
}
