/** What spreadsheets take as the beginning of a formula, also in full width, and after white space that they leave out. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
/** The same inside a cell, for spreadsheets that expect another separator than the file has: they find more cells in it. */
const INNER_FORMULA = /[,;\t\r\n]\s*(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/** Returns a cell in which each part that a spreadsheet could take as a formula gets an apostrophe, so that it is not run. */
export function withoutFormulas(cell: string): string {
  const harmless = cell.replaceAll(INNER_FORMULA, "$&'");
  return FORMULA.test(cell) ? `'${harmless}` : harmless;
}
