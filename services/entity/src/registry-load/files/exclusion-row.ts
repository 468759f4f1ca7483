import { createHash } from "node:crypto";
import { fromExclusionsDate, type IsoDate } from "../../model/dates.ts";
import type { ExclusionDocument } from "../../model/documents.ts";
import type { Parsed } from "./member.ts";

type Stated =
  | "uei"
  | "cage"
  | "sam_number"
  | "exclusion_type"
  | "program"
  | "agency"
  | "active_date"
  | "termination_date";

/** One row of the public exclusions file. A person's name and address are never read. */
export interface ExclusionRow extends Pick<ExclusionDocument, Stated> {
  /**
   * Identity of the row: a hash of its SAM number, identifiers, agency, cause code, type, active and creation date. The
   * SAM number is not enough: real files repeat one for each UEI, agency or cause code of the same action. A row whose
   * key is missing from a newer complete file has ended.
   */
  readonly key: string;
  readonly creationDate?: IsoDate;
}

/** The columns' titles; SAM.gov has renamed some. */
const columnNames = {
  classification: ["Classification"],
  name: ["Name"],
  uei: ["Unique Entity ID", "Unique Entity Identifier (SAM)"],
  program: ["Exclusion Program"],
  agency: ["Excluding Agency"],
  causeCode: ["CT Code"],
  exclusionType: ["Exclusion Type"],
  comments: ["Additional Comments"],
  activeDate: ["Active Date"],
  terminationDate: ["Termination Date"],
  samNumber: ["SAM Number"],
  cage: ["CAGE"],
  creationDate: ["Creation_Date", "Creation Date"],
} as const;

type ColumnName = keyof typeof columnNames;

/** The positions of the columns in a file, and their number. */
export interface Columns {
  positions: Readonly<Record<ColumnName, number>>;
  count: number;
}

/** Finds the columns in a header row, or returns the titles of those that are missing. */
export function findColumns(header: readonly string[]): Columns | { missing: string[] } {
  const titles = header.map((title) => title.trim().toLowerCase());
  const positionOf = (names: readonly string[]) => Math.max(...names.map((name) => titles.indexOf(name.toLowerCase())));
  const found = Object.entries(columnNames).map(([column, names]) => [column, positionOf(names)] as const);
  const missing = found.filter(([, at]) => at === -1).map(([column]) => columnNames[column as ColumnName].join(" or "));
  if (missing.length > 0) return { missing };
  return { positions: Object.fromEntries(found) as Record<ColumnName, number>, count: header.length };
}

/**
 * Reads the fields of one row. In real files a few comments are quoted wrongly and are split into several fields. Only
 * comments can be, so surplus fields belong to the comment. Then the typed columns on both sides of it must be well-formed,
 * or the row is refused.
 */
export function parseExclusion(fields: readonly string[], columns: Columns): Parsed<ExclusionRow> {
  const surplus = fields.length - columns.count;
  const comments = columns.positions.comments;
  if (surplus < 0) return { reason: `the row has ${fields.length} columns instead of ${columns.count}` };
  const at = (column: ColumnName) => {
    const position = columns.positions[column];
    return (fields[position > comments ? position + surplus : position] ?? "").trim();
  };
  const problem = findProblem(at, surplus > 0);
  if (problem) return { reason: surplus > 0 ? `the row has ${surplus} columns too many, and ${problem}` : problem };
  const stated = {
    sam_number: at("samNumber"),
    uei: at("uei").toUpperCase() || undefined,
    cage: at("cage").toUpperCase() || undefined,
    exclusion_type: at("exclusionType"),
    program: at("program"),
    agency: at("agency"),
    active_date: fromExclusionsDate(at("activeDate")),
  };
  const creationDate = fromExclusionsDate(at("creationDate"));
  const { sam_number, uei, cage, agency, exclusion_type, active_date } = stated;
  const identity = [sam_number, uei, cage, agency, at("causeCode"), exclusion_type, active_date, creationDate];
  const key = createHash("sha256").update(identity.join("|")).digest("hex").slice(0, 32);
  const termination = at("terminationDate");
  const termination_date = isIndefinite(termination) ? "indefinite" : fromExclusionsDate(termination);
  return { row: { key, ...stated, termination_date, creationDate } };
}

function findProblem(at: (column: ColumnName) => string, isRepaired: boolean): string | undefined {
  if (!/^[A-Z0-9]{4,20}$/i.test(at("samNumber"))) return "the SAM Number is missing or malformed";
  const classification = at("classification");
  if (!/^(firm|individual|vessel|special entity designation)?$/i.test(classification)) {
    return "the Classification is unknown";
  }
  if (isRepaired && (classification === "" || at("terminationDate") === ""))
    return "too few of the others are filled in";
  if (!/^([A-Z0-9]{12})?$/i.test(at("uei"))) return "the Unique Entity ID is malformed";
  if (!/^([A-Z0-9]{5})?$/i.test(at("cage"))) return "the CAGE is malformed";
  for (const column of ["activeDate", "terminationDate", "creationDate"] as const) {
    const text = at(column);
    if (text === "" || fromExclusionsDate(text) || (column === "terminationDate" && isIndefinite(text))) continue;
    return `the ${columnNames[column][0]} is not a date`;
  }
  return undefined;
}

function isIndefinite(text: string): boolean {
  return /^indefinite$/i.test(text);
}
