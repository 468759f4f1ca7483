import { pipeline } from "node:stream/promises";
import { outside } from "@vvs/fair-queue";
import { csvRow } from "@vvs/vendor-files/csv-row";
import type { Response } from "express";

/** The byte order mark, by which Excel reads the file as UTF-8. */
const BYTE_ORDER_MARK = "\ufeff";

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
      for (let next = first; !next.done; next = await reading.next()) {
        yield next.value.map((cells) => csvRow(cells)).join("");
      }
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
