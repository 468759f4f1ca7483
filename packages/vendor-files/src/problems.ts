/** What is wrong with a row or a cell, as the end of a sentence that begins with where it is. Never repeats a TIN. */
export interface Problem {
  /** The row's number as a spreadsheet program shows it; absent for the whole file. */
  readonly row?: number;
  /** Name of the column; absent for a whole row. */
  readonly column?: string;
  readonly message: string;
}

/** Returns a problem as text, such as `Row 5, "Tax ID" must be 9 digits`. */
export function problemText({ row, column, message }: Problem): string {
  const place = [row !== undefined && `row ${row}`, column !== undefined && quoted(column)].filter(Boolean).join(", ");
  const text = [place, message].filter(Boolean).join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const quoted = (name: string) => `"${name}"`;
