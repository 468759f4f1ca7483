import { type FileRow, VendorFileError } from "../file.ts";
import { type Problem, quoted } from "../problems.ts";
import { resultColumns } from "../results/columns.ts";
import { type Field, type FieldGuess, fields, guessField, namingFields } from "./fields.ts";

/** A column of the list. */
export interface Column {
  /** Its place in the cells of a row. */
  readonly index: number;
  /** As it stands in the file; empty where a column has no name. */
  readonly name: string;
  /** What it says of the vendor; undefined for a column that is only copied. */
  readonly field: Field | undefined;
}

/** Fields by the index of their column, as a person chose them; null for a column that is only to be copied. */
export type Mapping = Readonly<Record<number, Field | null>>;

/** Number of rows, from the first, in which the names of the columns are looked for. */
const MAX_ROWS_BEFORE = 20;

/** Returns where the row is that names the columns: that with the most known names, or else the first. */
export function findHeader(rows: readonly FileRow[]): number {
  const known = rows.slice(0, MAX_ROWS_BEFORE).map(({ cells }) => {
    const found = cells.flatMap((cell) => guessField(cell)?.field ?? []);
    // The states ID and ST are names of columns elsewhere.
    return found.some((field) => namingFields.includes(field)) ? found.length : 0;
  });
  return Math.max(0, known.indexOf(Math.max(...known)));
}

/** Returns the places of cells that the list itself has: without the columns that an earlier run has added. */
export function ownPlaces(header: readonly string[], width: number): number[] {
  const names = header.map((name) => name.trim());
  const start = names.findIndex((_, index) => resultColumns.every((name, offset) => names[index + offset] === name));
  const places = Array.from({ length: width }, (_, index) => index);
  return start < 0 ? places : places.filter((place) => place < start || place >= start + resultColumns.length);
}

/**
 * Returns the columns with the fields that were chosen, and elsewhere those that their names mean; each field once. With
 * notices on names that mean the same, and problems that make the list unusable. Errors: VendorFileError for a mapping
 * that does not fit.
 */
export function readColumns(names: readonly string[], mapping: Mapping, row: number) {
  const chosen = new Map(Object.entries(mapping).map(([index, field]) => [Number(index), field] as const));
  checkMapping(names, chosen);
  const taken = new Set(chosen.values());
  const best = new Map<Field, FieldGuess & { index: number }>();
  const notices: Problem[] = [];
  for (const [index, name] of names.entries()) {
    const guess = chosen.has(index) ? undefined : guessField(name);
    if (!guess || taken.has(guess.field)) continue;
    const other = best.get(guess.field);
    if (!other || guess.rank < other.rank) best.set(guess.field, { ...guess, index });
  }
  for (const [index, name] of names.entries()) {
    const field = chosen.has(index) ? undefined : guessField(name)?.field;
    const used = field && best.get(field);
    if (!used || used.index === index) continue;
    const text = `is not used: ${quoted(names[used.index]!)} is taken for the ${fields[field]}`;
    notices.push({ row, column: name, message: text });
  }
  const columns = names.map((name, index): Column => {
    const field = chosen.get(index) ?? [...best.values()].find((guess) => guess.index === index)?.field;
    return { index, name, field };
  });
  return { columns, notices, problems: usable(columns, row) };
}

function checkMapping(names: readonly string[], chosen: ReadonlyMap<number, Field | null>): void {
  const used = new Set<Field>();
  for (const [index, field] of chosen) {
    if (!(index in names))
      throw new VendorFileError("The chosen columns are those of another file. Choose them again.");
    if (field === null) continue;
    if (used.has(field)) throw new VendorFileError(`Two columns are chosen as ${fields[field]}. Choose one of them.`);
    used.add(field);
  }
}

function usable(columns: readonly Column[], row: number): Problem[] {
  if (columns.some(({ field }) => field && namingFields.includes(field))) return [];
  const words = namingFields.map((field) => fields[field]).join(", ");
  return [{ row, message: `names no column by which a vendor can be found. The list needs one of these: ${words}` }];
}
