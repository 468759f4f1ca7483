import { createHash } from "node:crypto";
import { fromExclusionsDate, type IsoDate } from "../../model/dates.ts";

/** When an exclusion is in force. */
export interface ExclusionPeriod {
  /** Absent where the source does not say: then it is already in force. */
  activeDate?: IsoDate;
  /** The last day; absent where the source is blank, which is as good as indefinite. */
  terminationDate?: IsoDate | "indefinite";
}

/** One row of the public exclusions file. A person's name and address are never taken over. */
export interface ExclusionRow extends ExclusionPeriod {
  /**
   * Identity of the row: a hash of its SAM number, identifiers, agency, cause code, type, active and creation date.
   * The SAM number alone does not identify a row: real files repeat one for each UEI, agency or cause code of the same
   * action. A row whose key is missing from a newer complete file is a terminated exclusion.
   */
  key: string;
  samNumber: string;
  /** `Firm`, `Individual`, `Vessel`, `Special Entity Designation`, or "" where the source is blank. */
  classification: string;
  /** "" for an individual, and where the classification is blank. */
  name: string;
  uei?: string;
  cage?: string;
  exclusionType: string;
  program: string;
  agency: string;
  causeCode?: string;
  creationDate?: IsoDate;
}

/** True when the exclusion is in force on that day: begun, and not past its last day. */
export function isExclusionActive(exclusion: ExclusionPeriod, today: IsoDate): boolean {
  const { activeDate, terminationDate } = exclusion;
  if (activeDate !== undefined && activeDate > today) return false;
  return terminationDate === undefined || terminationDate === "indefinite" || terminationDate >= today;
}

/** Columns by the names of either generation of the file; UEI is the only one that was renamed. */
export const columnNames = {
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

export type ColumnName = keyof typeof columnNames;

/** Where each column stands in this file, and how many there are. */
export interface Columns {
  positions: Readonly<Record<ColumnName, number>>;
  count: number;
}

/** Finds the columns in a header row, or names those that are missing. */
export function findColumns(header: readonly string[]): Columns | { missing: string[] } {
  const titles = header.map((title) => title.trim().toLowerCase());
  const positionOf = (names: readonly string[]) => Math.max(...names.map((name) => titles.indexOf(name.toLowerCase())));
  const found = Object.entries(columnNames).map(([column, names]) => [column, positionOf(names)] as const);
  const missing = found.filter(([, at]) => at === -1).map(([column]) => columnNames[column as ColumnName].join(" or "));
  if (missing.length > 0) return { missing };
  return { positions: Object.fromEntries(found) as Record<ColumnName, number>, count: header.length };
}

/**
 * Reads the fields of one row. Real files hold a few rows whose comment is quoted wrongly and falls into several
 * fields: as the comment is the only such text, the surplus is folded back into it, and every typed column on both
 * sides must then be well-formed, or the row is refused.
 */
export function parseExclusion(
  fields: readonly string[],
  columns: Columns,
): { row: ExclusionRow } | { reason: string } {
  const surplus = fields.length - columns.count;
  const comments = columns.positions.comments;
  if (surplus < 0) return { reason: `the row has ${fields.length} columns instead of ${columns.count}` };
  const at = (column: ColumnName) => {
    const position = columns.positions[column];
    return (fields[position > comments ? position + surplus : position] ?? "").trim();
  };
  const problem = findProblem(at, surplus > 0);
  if (problem) return { reason: surplus > 0 ? `the row has ${surplus} columns too many, and ${problem}` : problem };
  const termination = at("terminationDate");
  const classification = at("classification");
  const isPerson = classification === "" || /^individual$/i.test(classification);
  const row = {
    samNumber: at("samNumber"),
    classification,
    name: isPerson ? "" : at("name"),
    uei: at("uei").toUpperCase() || undefined,
    cage: at("cage").toUpperCase() || undefined,
    exclusionType: at("exclusionType"),
    program: at("program"),
    agency: at("agency"),
    causeCode: at("causeCode") || undefined,
    activeDate: fromExclusionsDate(at("activeDate")),
    terminationDate: isIndefinite(termination) ? ("indefinite" as const) : fromExclusionsDate(termination),
    creationDate: fromExclusionsDate(at("creationDate")),
  };
  return { row: { key: keyOf(row), ...row } };
}

function findProblem(at: (column: ColumnName) => string, isRepaired: boolean): string | undefined {
  if (!/^[A-Z0-9]{4,20}$/i.test(at("samNumber"))) return "the SAM Number is missing or malformed";
  const classification = at("classification");
  if (!/^(firm|individual|vessel|special entity designation)?$/i.test(classification)) {
    return "the Classification is unknown";
  }
  if (isRepaired && (classification === "" || at("terminationDate") === "")) return "what is left is too little";
  if (!/^([A-Z0-9]{12})?$/i.test(at("uei"))) return "the Unique Entity ID is malformed";
  if (!/^([A-Z0-9]{5})?$/i.test(at("cage"))) return "the CAGE is malformed";
  for (const column of ["activeDate", "terminationDate", "creationDate"] as const) {
    const text = at(column);
    if (text === "" || fromExclusionsDate(text) || (column === "terminationDate" && isIndefinite(text))) continue;
    return `the ${columnNames[column][0]} is no date`;
  }
  return undefined;
}

function isIndefinite(text: string): boolean {
  return /^indefinite$/i.test(text);
}

function keyOf(row: Omit<ExclusionRow, "key">): string {
  const { samNumber, uei, cage, agency, causeCode, exclusionType, activeDate, creationDate } = row;
  const parts = [samNumber, uei, cage, agency, causeCode, exclusionType, activeDate, creationDate];
  const text = parts.map((part) => part ?? "").join("|");
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
