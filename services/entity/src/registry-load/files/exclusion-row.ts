import { hash } from "node:crypto";
import { type IdentifierType, isWellFormed, maskTins, normalizeIdentifier } from "@vvs/identifiers";
import { isNoIdentifier } from "@vvs/identifiers/none";
import { effectOf } from "@vvs/registration";
import { fromExclusionsDate, type IsoDate } from "../../model/dates.ts";
import type { ExclusionDocument } from "../../model/documents.ts";
import type { ExcludedNameDocument } from "../../model/excluded-names.ts";

/** A row that names a UEI or a CAGE. The name and address in it are never read. */
export interface ExclusionRow
  extends Omit<ExclusionDocument, "_id" | "load_id" | "changed_by" | "before" | "first_seen" | "last_seen" | "count"> {
  /**
   * Identity of the row: a hash of what it states, without names, addresses, comment and end date. The SAM number is not
   * enough: it repeats, and can be blank. A row whose key is missing from a newer complete file has ended.
   */
  readonly key: string;
}

/** A row that names neither a UEI nor a CAGE, but bears a name. Its comment and address are not kept. */
export interface NamedRow
  extends Pick<
    ExcludedNameDocument,
    "name" | "exclusion_type" | "program" | "agency" | "effect" | "active_date" | "termination_date"
  > {
  /** Hash of what the row states, its name and its end date included. */
  readonly key: string;
}

/** Why a row can't be read, and what of it can. */
export interface UnreadableRow {
  readonly reason: string;
  /** Hash of its text. */
  readonly hash: string;
  readonly uei?: string;
  readonly cage?: string;
  /** "" where it is blank, or perhaps that of another column. */
  readonly samNumber: string;
}

/**
 * What a row of the file says. An `unreadable` one still has its `row`, or without a UEI and a CAGE is `named`, where its text
 * has so much: in force without dates, because nothing unreadable may clear a vendor. Without any of these it names nobody.
 */
export interface ParsedExclusion {
  readonly unreadable?: UnreadableRow;
  readonly row?: ExclusionRow;
  /** The row, if it names nobody by an identifier but bears a name. */
  readonly named?: NamedRow;
}

/** What the check of a file needs of a row: `key` is that of its `row` in ParsedExclusion. */
export interface CheckedExclusion {
  readonly unreadable?: UnreadableRow;
  readonly key?: string;
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

/** Columns that a file may lack: the parts of a person's name. */
const personColumns = { first: ["First"], middle: ["Middle"], last: ["Last"], suffix: ["Suffix"] } as const;

type ColumnName = keyof typeof columnNames | keyof typeof personColumns;

/** Reads a column of a row, without spaces around it. */
type Cells = (column: ColumnName) => string;

type Identifiers = Readonly<Record<"uei" | "cage", string | undefined>>;

/** The positions of the columns in a file, -1 for one that it lacks, and their number. */
export interface Columns {
  positions: Readonly<Record<ColumnName, number>>;
  count: number;
}

const DATES = ["activeDate", "terminationDate", "creationDate"] as const;
/** The documented maximum. */
const MAX_COMMENT = 4_000;
const MAX_NAME = 300;

/** Finds the columns in a header row, or returns the titles of those that are missing. */
export function findColumns(header: readonly string[]): Columns | { missing: string[] } {
  const titles = header.map((title) => title.trim().toLowerCase());
  const positionOf = (names: readonly string[]) => Math.max(...names.map((name) => titles.indexOf(name.toLowerCase())));
  const missing = Object.values(columnNames).filter((names) => positionOf(names) === -1);
  if (missing.length > 0) return { missing: missing.map((names) => names.join(" or ")) };
  const all = Object.entries({ ...columnNames, ...personColumns });
  const positions = Object.fromEntries(all.map(([column, names]) => [column, positionOf(names)]));
  return { positions: positions as Record<ColumnName, number>, count: header.length };
}

/**
 * Reads the fields of one row. In real files a few comments are quoted wrongly and are split into several fields. Only
 * comments can be, so surplus fields belong to the comment. Then the typed columns on both sides of it must be well-formed,
 * or the row can't be read.
 */
export function parseExclusion(fields: readonly string[], columns: Columns): ParsedExclusion {
  const { cells, identifiers, unreadable } = readFields(fields, columns);
  const isUnreadable = unreadable !== undefined;
  if (namesVendor(identifiers)) {
    return { ...(unreadable && { unreadable }), row: rowOf(cells, identifiers, isUnreadable) };
  }
  // A row with too few columns may have another text in that of the name.
  const named = fields.length >= columns.count ? namedRowOf(cells, isUnreadable) : undefined;
  return { ...(unreadable && { unreadable }), ...(named && { named }) };
}

/** Checks the fields of one row, as parseExclusion reads them. */
export function checkExclusion(fields: readonly string[], columns: Columns): CheckedExclusion {
  const { cells, identifiers, unreadable } = readFields(fields, columns);
  const creationDate = unreadable ? undefined : dateIn(cells("creationDate"));
  return { unreadable, creationDate, key: namesVendor(identifiers) ? keyOf(cells, identifiers) : undefined };
}

function readFields(fields: readonly string[], columns: Columns) {
  const surplus = fields.length - columns.count;
  const cells = cellsOf(fields, columns, surplus);
  const identifiers = { uei: identifierIn("uei", cells("uei")), cage: identifierIn("cage", cells("cage")) };
  const reason = findProblem(cells, identifiers, { surplus, count: columns.count });
  if (reason === undefined) return { cells, identifiers };
  const samNumber = surplus === 0 ? cells("samNumber") : "";
  return { cells, identifiers, unreadable: { reason, hash: hashOf(fields), ...identifiers, samNumber } };
}

function namesVendor({ uei, cage }: Identifiers): boolean {
  return uei !== undefined || cage !== undefined;
}

/** Columns right of the comment are counted from the end, since the comment's text may have been split. */
function cellsOf(fields: readonly string[], { positions }: Columns, surplus: number): Cells {
  const { comments } = positions;
  return (column) => {
    const position = positions[column];
    if (position < comments) return (fields[position] ?? "").trim();
    if (column === "comments")
      return fields
        .slice(comments, comments + 1 + Math.max(surplus, 0))
        .join(",")
        .trim();
    return position + surplus > comments ? fields[position + surplus]!.trim() : "";
  };
}

function rowOf(cells: Cells, { uei, cage }: Identifiers, isUnreadable: boolean): ExclusionRow {
  const isPerson = /^individual$/i.test(cells("classification"));
  return {
    key: keyOf(cells, { uei, cage }),
    sam_number: cells("samNumber"),
    uei,
    cage,
    exclusion_type: cells("exclusionType"),
    program: cells("program"),
    agency: cells("agency"),
    // A comment on a person may name others.
    comment: (!isUnreadable && !isPerson && maskTins(cells("comments").slice(0, MAX_COMMENT))) || undefined,
    ...effectAndDates(cells, isUnreadable),
  };
}

/** Returns what a row excludes from, and when; where it can't be read, from everything and without dates. */
function effectAndDates(
  cells: Cells,
  isUnreadable: boolean,
): Pick<NamedRow, "effect" | "active_date" | "termination_date"> {
  if (isUnreadable) return { effect: "bar" };
  const termination = cells("terminationDate");
  return {
    effect: effectOf({ agency: cells("agency"), causeCode: cells("causeCode"), comment: cells("comments") }),
    active_date: dateIn(cells("activeDate")),
    termination_date: isIndefinite(termination) ? "indefinite" : dateIn(termination),
  };
}

/** Returns a row by its name: that of the column, or a person's by its parts; undefined where the row has none. */
function namedRowOf(cells: Cells, isUnreadable: boolean): NamedRow | undefined {
  const parts = (["first", "middle", "last", "suffix"] as const).map(cells).filter((part) => part !== "");
  const name = (cells("name") || parts.join(" ")).slice(0, MAX_NAME);
  if (name === "") return undefined;
  const [program, agency, exclusion_type] = [cells("program"), cells("agency"), cells("exclusionType")];
  const stated = effectAndDates(cells, isUnreadable);
  const what = [name, cells("samNumber"), program, agency, cells("causeCode"), exclusion_type, stated.effect];
  const key = hashOf([...what, stated.active_date ?? "", stated.termination_date ?? ""]);
  return { key, name, exclusion_type, program, agency, ...stated };
}

function keyOf(cells: Cells, { uei = "", cage = "" }: Identifiers): string {
  const who = [cells("classification"), uei, cage, cells("samNumber")];
  const what = [cells("program"), cells("agency"), cells("causeCode"), cells("exclusionType")];
  const dates = [cells("activeDate"), cells("creationDate")].map((text) => dateIn(text) ?? text);
  return hashOf([...who, ...what, ...dates]);
}

function hashOf(texts: readonly string[]): string {
  return hash("sha256", JSON.stringify(texts), "base64url").slice(0, 22);
}

function findProblem(
  cells: Cells,
  identifiers: Identifiers,
  { surplus, count }: { surplus: number; count: number },
): string | undefined {
  if (surplus < 0) return `the row has ${count + surplus} columns instead of ${count}`;
  const problem = problemOfCells(cells, identifiers) ?? (surplus > 0 ? problemOfRepair(cells) : undefined);
  return problem && (surplus > 0 ? `the row has ${surplus} columns too many, and ${problem}` : problem);
}

function problemOfCells(cells: Cells, identifiers: Identifiers): string | undefined {
  if (!/^(firm|individual|vessel|special entity designation)?$/i.test(cells("classification"))) {
    return "the Classification is unknown";
  }
  for (const type of ["uei", "cage"] as const) {
    if (identifiers[type] === undefined && cells(type) !== "" && !isNoIdentifier(cells(type))) {
      return `the ${columnNames[type][0]} is malformed`;
    }
  }
  for (const column of DATES) {
    const text = cells(column);
    if (text === "" || dateIn(text) || (column === "terminationDate" && isIndefinite(text))) continue;
    return `the ${columnNames[column][0]} is not a date`;
  }
  return undefined;
}

/** Where fields were put together, the columns beside them must be filled in, so that a shift is noticed. */
function problemOfRepair(cells: Cells): string | undefined {
  if (!/^[A-Z0-9-]*$/i.test(cells("samNumber"))) return "the SAM Number is malformed";
  if (cells("classification") === "" || cells("terminationDate") === "") return "too few of the others are filled in";
  return undefined;
}

/** Returns an identifier as it is stored; undefined if the text is blank, says that there is none, or is malformed. */
function identifierIn(type: IdentifierType, text: string): string | undefined {
  if (text === "") return undefined;
  const normalized = normalizeIdentifier(text);
  return isWellFormed(type, normalized) ? normalized : undefined;
}

function isIndefinite(text: string): boolean {
  return /^indefinite$/i.test(text);
}

/** The dates of the rows read last: a file has few different ones, and each row is asked for its dates several times. */
const dates = new Map<string, IsoDate | undefined>();
const MAX_DATES = 20_000;

function dateIn(text: string): IsoDate | undefined {
  if (text === "") return undefined;
  if (dates.has(text)) return dates.get(text);
  if (dates.size === MAX_DATES) dates.clear();
  const date = fromExclusionsDate(text);
  dates.set(text, date);
  return date;
}
