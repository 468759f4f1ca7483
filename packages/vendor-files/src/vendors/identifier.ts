import { type IdentifierType, normalizeIdentifier } from "@vvs/identifiers";
import { isNoIdentifier } from "@vvs/identifiers/none";
import { identifierProblem } from "@vvs/identifiers/problems";

/** What an identifier's cell says: a value, nothing, a TIN that is masked, or something that can't be right. */
export type IdentifierCell =
  | { readonly value: string }
  | { readonly problem: string }
  | { readonly isMasked: true }
  | undefined;

const LABEL = /^(?:TIN|EIN|FEIN|SSN|ITIN|TAX ID|UEI|DUNS|CAGE)(?:\s*[:#]\s*|\s+)(?=\S)/i;
/** As spreadsheets write a number of more digits than they show. */
const CUT = /^\d+(?:[.,]\d+)?E[+-]\d+$/i;
/** A number that is written with groups of digits, or with decimals. */
const NUMBER = /^(\d+|\d{1,3}([.,])\d{3}(?:\2\d{3})*)(?:[.,]0+)?$/;
const DATE = /^\d{1,4}-(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:-\d+)?$|^\d{1,2}\/\d{1,2}\/\d{2,4}$/i;
const ERROR = /^#(?:REF!|VALUE!|NAME\?|NUM!|NULL!|DIV\/0!|SPILL!|CALC!)$/i;
/** A TIN that shows its last digits only, such as ****6789 or XXX-XX-6789. */
const MASKED = /^(?=.*[*x•●#])[*x•●#\s-]{3,}\d{4}$|^(?=.*[*x•●])[*x•●\s-]{4,}$/i;
/** What a spreadsheet writes of a number for which the column is too narrow. */
const TOO_NARROW = /^#{2,}$/;

/** Reads the cell of an identifier, and undoes what spreadsheets add to it. Zeros that are lost stay lost. */
export function readIdentifier(type: IdentifierType, cell: string): IdentifierCell {
  const text = withoutMarks(cell).replace(LABEL, "");
  if (TOO_NARROW.test(text)) {
    return { problem: "was left out by a spreadsheet: widen the column, and save the list again" };
  }
  if (type === "tin" && MASKED.test(text)) return { isMasked: true };
  if (text === "" || isNoIdentifier(text)) return undefined;
  if (ERROR.test(text)) return { problem: "is an error of the spreadsheet" };
  if (CUT.test(text)) {
    return { problem: "was cut by a spreadsheet: format the column as text, and enter the number again" };
  }
  if (DATE.test(text)) {
    return { problem: "was made a date by a spreadsheet: format the column as text, and enter it again" };
  }
  const digits = NUMBER.exec(text)?.[1]?.replaceAll(/[.,]/g, "");
  const value = normalizeIdentifier(digits ?? text);
  if (isNoIdentifier(value)) return undefined;
  const problem = identifierProblem(type, value);
  return problem ? { problem } : { value };
}

/** Returns a cell without what only keeps a spreadsheet from taking it for a number: `'012`, `="012"`. */
export function withoutMarks(cell: string): string {
  return withoutFormula(cell)
    .replace(/^['\u2018\u2019`](?=\w)/, "")
    .trim();
}

/** Returns the text of a cell that is written as a formula: `="Acme"`. */
export function withoutFormula(cell: string): string {
  return cell.trim().replace(/^=\s*"(.*)"$/s, "$1");
}
