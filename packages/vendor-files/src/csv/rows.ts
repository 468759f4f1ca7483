import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type CsvError, parse } from "csv-parse";
import { originalCell } from "../csv-row.ts";
import { type FileFormat, type FileRow, VendorFileError } from "../file.ts";
import { guessDelimiter, namedDelimiter } from "./delimiter.ts";
import { readText } from "./text.ts";

/** A row of this many characters is a quotation mark that is never closed. */
const MAX_ROW_LENGTH = 1_000_000;

/**
 * Reads the rows of a CSV file: of any encoding, delimiter and line end that spreadsheets write. Lets other work run
 * between slices of 16 kB. Errors: VendorFileError.
 */
export function readCsv(bytes: Uint8Array): { format: FileFormat; rows: AsyncIterable<FileRow> } {
  const text = readText(bytes);
  const [sample = ""] = text.slices();
  const named = namedDelimiter(sample);
  const delimiter = named?.delimiter ?? guessDelimiter(sample);

  async function* slices() {
    let start = named?.line.length ?? 0;
    for (const slice of text.slices()) {
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
      max_record_size: MAX_ROW_LENGTH,
    });
    const source = Readable.from(slices());
    source.once("error", (error) => parser.destroy(error));
    try {
      for await (const cells of source.pipe(parser)) yield { number: ++number, cells: cells.map(original) };
    } catch (error) {
      const { code, records } = error as CsvError & { records?: number };
      throw code?.startsWith("CSV_") ? openQuote((records ?? number) + 1, error) : error;
    } finally {
      source.destroy();
    }
  }

  return { format: { delimiter, bom: text.hasBom || text.encoding !== "utf-8" }, rows: rows() };
}

function openQuote(row: number, cause: unknown): VendorFileError {
  return new VendorFileError(
    `Row ${row} begins a quoted cell that never ends. Look for a missing quotation mark (").`,
    {
      cause,
    },
  );
}
