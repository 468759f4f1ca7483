import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ExcludedNameSchema } from "@vvs/proto/entity/v1/entity";
import { bearSameName, nameQueryKeys } from "../matching/names/screening.ts";
import type { ExcludedNameDocument } from "../model/excluded-names.ts";

/** Maximum number of rows of one vendor that are returned. */
const MAX_ROWS = 20;

type ExcludedName = MessageInitShape<typeof ExcludedNameSchema>;

/** Returns the keys by which rows with one of these names are found; their legal forms must still be compared. */
export function keysOfNames(names: readonly string[]): string[] {
  return [...new Set(names.flatMap(nameQueryKeys))];
}

/** Returns those of the rows that bear one of a vendor's names, equal ones once, the newest first. */
export function sameNames(rows: readonly ExcludedNameDocument[], names: readonly string[]): ExcludedName[] {
  if (rows.length === 0) return [];
  const keys = new Set(keysOfNames(names));
  const same = rows
    .filter((row) => row.name_keys.some((key) => keys.has(key)))
    .filter((row) => names.some((name) => bearSameName(name, row.name)));
  const byKey = new Map(same.map((row) => [row.key, row]));
  return [...byKey.values()].toSorted(newestFirst).slice(0, MAX_ROWS).map(toMessage);
}

function newestFirst(one: ExcludedNameDocument, other: ExcludedNameDocument): number {
  const [a, b] = [one, other].map(({ active_date = "", key }) => `${active_date} ${key}`) as [string, string];
  return a < b ? 1 : -1;
}

function toMessage(row: ExcludedNameDocument): ExcludedName {
  return {
    name: row.name,
    exclusionType: row.exclusion_type,
    program: row.program,
    agency: row.agency,
    activeDate: row.active_date,
    terminationDate: row.termination_date ?? "indefinite",
  };
}
