import { csvRow } from "../csv-row.ts";
import type { VendorFile } from "../read.ts";
import { addedCells, type RowResult } from "./added-cells.ts";
import { resultColumns } from "./columns.ts";
import { maskedCells } from "./masked.ts";

/** The part of a list that its results repeat. */
export type WrittenList = Pick<VendorFile, "columns" | "rows" | "format">;

/**
 * Yields a CSV file of results: every row with all its own columns, then `resultColumns`. One result for each row, in the
 * order of the rows; a missing one leaves the added columns empty. TINs are masked, and formulas harmless.
 */
export async function* writeResults(
  list: WrittenList,
  results: Iterable<RowResult | undefined> | AsyncIterable<RowResult | undefined>,
): AsyncGenerator<string> {
  const { columns, rows, format } = list;
  const header = [...columns.map(({ name }) => name), ...resultColumns];
  yield (format.bom ? "\ufeff" : "") + csvRow(header, format.delimiter);
  const masked = maskedCells(columns);
  let index = 0;
  for await (const result of results) {
    const row = rows[index++];
    if (!row) return;
    yield csvRow([...masked(row), ...addedCells(result)], format.delimiter);
  }
  for (const row of rows.slice(index)) yield csvRow([...masked(row), ...addedCells(undefined)], format.delimiter);
}
