import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { UsageError } from "../benchmark.ts";

/** Two names, and whether a person labelled them as the same organization. */
export interface LabelledPair {
  readonly name1: string;
  readonly name2: string;
  readonly isMatch: boolean;
}

const yes = new Set(["true", "t", "1", "yes", "y"]);
const no = new Set(["false", "f", "0", "no", "n"]);

/**
 * Reads labelled pairs of names from a CSV file with the columns name1, name2 and is_match; other columns are ignored.
 * Errors: UsageError for a file without pairs, a missing column, or a label that is neither yes nor no.
 */
export function readPairs(file: string): LabelledPair[] {
  const pairs = pairsIn(readFileSync(file, "utf8"));
  if (pairs.length === 0) throw new UsageError(`${file} has no pairs.`);
  return pairs;
}

/** Parses the pairs of a CSV text. Errors: UsageError for a missing column or an invalid label. */
export function pairsIn(text: string): LabelledPair[] {
  const rows: Record<string, string>[] = parse(text, {
    columns: true,
    bom: true,
    skip_empty_lines: true,
    relax_column_count: true,
  });
  return rows.map((row, index) => {
    const { name1, name2, is_match: label } = row;
    if (name1 === undefined || name2 === undefined || label === undefined)
      throw new UsageError(`Row ${index + 1} lacks one of the columns name1, name2, is_match.`);
    const value = label.trim().toLowerCase();
    if (!yes.has(value) && !no.has(value))
      throw new UsageError(`Row ${index + 1}: is_match is "${label}", neither true nor false.`);
    return { name1, name2, isMatch: yes.has(value) };
  });
}
