import { setImmediate } from "node:timers/promises";
import { isSandboxUei, SANDBOX_UEI_PROBLEM } from "@vvs/identifiers/problems";
import { createRepeatFinder, isTinAsNumber, type JobRow, TIN_AS_NUMBER_PROBLEM } from "@vvs/jobs";
import type { Environment } from "@vvs/tenant";
import {
  type Field,
  fields,
  type Mapping,
  type Problem,
  readVendorFile,
  storableCells,
  type Vendor,
  type VendorFile,
  VendorFileError,
  withoutTins,
} from "@vvs/vendor-files";
import type { Request } from "express";
import { fieldValues } from "../http/form.ts";

/** A list of vendors, and what a job would be given of it. */
export interface VendorList {
  /** Names of the columns, with TINs masked. */
  readonly columns: readonly string[];
  /** Rows with the numbers that a spreadsheet program shows. A repeated one names the first. */
  readonly rows: readonly (JobRow & { readonly cells: string[] })[];
  /** Of the whole list, and then of its rows. */
  readonly problems: readonly Problem[];
  /** Number of rows that can be verified. */
  readonly good: number;
  readonly repeated: number;
  /** The file as it was read. Its rows have the places of `rows`. */
  readonly file: VendorFile;
}

/** Rows after which other requests have their turn. */
const ROWS_AT_A_TIME = 100;
/** Maximum number of characters of all cells, which are stored with the results. */
const MAX_CHARACTERS = 5_000_000;

const TOO_MUCH_TEXT = "The cells have more than 5 MB of text. Remove columns that you don’t need, or split the list.";

/** Reads a list by the names of its columns, or by the chosen fields. Errors: VendorFileError. */
export async function readVendorList(
  bytes: Uint8Array,
  { mapping, environment }: { mapping: Mapping; environment: Environment },
): Promise<VendorList> {
  const file = await readVendorFile(bytes, { mapping });
  const problems: Problem[] = [...file.problems];
  const repeated = createRepeatFinder();
  const cellsOf = storableCells(file.columns);
  const rows: (JobRow & { cells: string[] })[] = [];
  let characters = 0;
  for (const [index, given] of file.rows.entries()) {
    if (index % ROWS_AT_A_TIME === 0) await setImmediate();
    const { number: row, vendor, problems: found } = given;
    const cells = cellsOf(given);
    characters += cells.join("").length;
    if (characters > MAX_CHARACTERS) throw new VendorFileError(TOO_MUCH_TEXT);
    const ofRow = vendor ? ruleProblems(vendor, file, environment).map((each) => ({ row, ...each })) : found;
    problems.push(...ofRow);
    if (ofRow.length > 0 || !vendor) {
      const ofFields = ofRow.map(({ column = "row", message }) => ({ path: column, message }));
      rows.push({ row, externalId: numberOf(given.cells, file, ofRow), problems: ofFields, cells });
      continue;
    }
    const { external_id: externalId, entity_id: entityId, identifiers, legal_name: legalName, address } = vendor;
    const good = { row, externalId, entityId, identifiers, legalName, address };
    rows.push({ ...good, sameAs: repeated(good), cells });
  }
  const good = rows.filter(({ problems: own = [] }) => own.length === 0).length;
  const columns = file.columns.map(({ name, field }) => withoutTins(name, field));
  return { columns, rows, problems, good, repeated: rows.filter(({ sameAs }) => sameAs).length, file };
}

/** Returns the problems that only a service would find. */
function ruleProblems(
  { identifiers, external_id: externalId }: Vendor,
  { columns }: VendorFile,
  environment: Environment,
): Omit<Problem, "row">[] {
  const nameOf = (field: Field) => columns.find((column) => column.field === field)?.name;
  const problems: Omit<Problem, "row">[] = [];
  if (environment === "live" && isSandboxUei(identifiers?.uei ?? "")) {
    problems.push({ column: nameOf("uei"), message: SANDBOX_UEI_PROBLEM });
  }
  if (isTinAsNumber(externalId, identifiers?.tin)) {
    problems.push({ column: nameOf("external_id"), message: TIN_AS_NUMBER_PROBLEM });
  }
  return problems;
}

/** Returns the number of a vendor whose row has problems elsewhere, so that it is found again; not if it may be the TIN. */
function numberOf(cells: readonly string[], { columns }: VendorFile, problems: readonly Problem[]): string | undefined {
  const column = columns.find(({ field }) => field === "external_id");
  const isReadable = column && problems.every((problem) => problem.column !== column.name);
  if (!isReadable) return undefined;
  const others = cells.filter((_cell, index) => index !== column.index);
  return isTinAsNumber(cells[column.index], others) ? undefined : cells[column.index]?.trim();
}

const columnName = (index: number) => `column_${index}`;

/** Returns the fields that were chosen for columns. */
export function readMapping(request: Request): Mapping {
  const names = Object.keys((request.body as object | undefined) ?? {});
  const chosen = names.flatMap((name) => {
    const index = /^column_(\d{1,3})$/.exec(name)?.[1];
    const [value = ""] = fieldValues(request, name);
    return index === undefined
      ? []
      : [[Number(index), Object.hasOwn(fields, value) ? (value as Field) : null] as const];
  });
  return Object.fromEntries(chosen);
}

export { columnName };
