import { pipeline } from "node:stream/promises";
import { outside } from "@vvs/fair-queue";
import type { Response } from "express";

/** What spreadsheets take as the beginning of a formula, also in full width, and after white space that they leave out. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
/** The same inside a cell, for spreadsheets that separate cells by semicolons or tabs: they find more cells in it. */
const INNER_FORMULA = /[;\t\r\n]\s*(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
/** The byte order mark, by which Excel reads the file as UTF-8. */
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Returns a row of a CSV file (RFC 4180). Every cell is quoted. A cell that a spreadsheet could take as a formula gets an
 * apostrophe, so that it is shown and not run.
 */
export function csvRow(cells: readonly string[]): string {
  const quoted = cells.map((cell) => `"${withoutFormulas(cell).replaceAll('"', '""')}"`);
  return `${quoted.join(",")}\r\n`;
}

function withoutFormulas(cell: string): string {
  const harmless = cell.replaceAll(INNER_FORMULA, "$&'");
  return FORMULA.test(cell) ? `'${harmless}` : harmless;
}

/**
 * Sends rows as a CSV file while they are read, in chunks, and no faster than the browser takes them. Reading ends when the
 * browser goes away. If reading fails before the first chunk, the error is thrown; later the download is broken off, so that
 * half a file is never taken for a whole one.
 */
export async function sendCsv(
  response: Response,
  fileName: string,
  columns: readonly string[],
  chunks: AsyncIterable<readonly (readonly string[])[]>,
): Promise<void> {
  const reading = chunks[Symbol.asyncIterator]();
  const first = await reading.next();
  async function* texts() {
    try {
      yield BYTE_ORDER_MARK + csvRow(columns);
      for (let next = first; !next.done; next = await reading.next()) yield next.value.map(csvRow).join("");
    } finally {
      await reading.return?.();
    }
  }
  response.set({
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": `attachment; filename="${fileName}"`,
  });
  // A browser that reads slowly holds no seat.
  await outside(() => pipeline(texts, response)).catch((error: NodeJS.ErrnoException) => {
    const hasBrowserGone = error.code === "ERR_STREAM_PREMATURE_CLOSE";
    if (!hasBrowserGone) throw error;
  });
}
