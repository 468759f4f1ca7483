import { csvRow } from "../csv-row.ts";
import type { VendorFile } from "../read.ts";
import { resultColumns } from "./columns.ts";
import { maskedCell, maskedCells } from "./masked.ts";

/** The result of a row. What is absent stays empty. */
export interface RowResult {
  readonly outcome: string;
  readonly decision?: string | undefined;
  /** The vendor's name by the registry. */
  readonly registry_name?: string | undefined;
  /** The TIN that was asked for; it is written masked. */
  readonly asked_tin?: string | undefined;
  readonly asked_name?: string | undefined;
  /** The last day of the registration, YYYY-MM-DD. */
  readonly expires_on?: string | undefined;
  readonly reasons?: readonly string[] | undefined;
  /** Address of the page with the evidence. */
  readonly evidence?: string | undefined;
}

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

/** Returns the cells of `resultColumns`, which are empty where there is no result. */
export function addedCells(result: RowResult | undefined): string[] {
  const { asked_tin: tin = "", reasons = [] } = result ?? {};
  const cells = { ...result, asked_tin: tin && maskedCell(tin), reasons: reasons.join("; ") };
  return resultColumns.map((name) => cells[name] ?? "");
}
