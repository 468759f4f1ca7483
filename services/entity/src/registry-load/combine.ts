import type { RegistryEntityFacts, StatusFacts } from "../model/facts.ts";
import type { ExtractCode, ExtractRow } from "./files/row.ts";

/**
 * Takes one more row, in file order, into the rows of its entity (one per EFT indicator, which need not be adjacent in
 * the file). For each EFT indicator the last complete row counts, changed by a later partial one: a deactivation keeps
 * the name and the address.
 */
export function addRow(rows: ExtractRow[], row: ExtractRow): void {
  const at = rows.findIndex(({ eftIndicator }) => eftIndicator === row.eftIndicator);
  if (at === -1) rows.push(row);
  else rows[at] = row.partial ? withPartial(rows[at]!, row) : row;
}

/** The one row that speaks for its entity: the blank indicator's, else an active one, else the newest. */
export function speakingRow(rows: readonly ExtractRow[]): ExtractRow {
  return rows.reduce((best, row) => (precedes(row, best) ? row : best));
}

/** The facts of a complete row. */
export function factsFromRow(row: ExtractRow): RegistryEntityFacts {
  const otherNames = [row.dbaName, row.divisionName].filter((name) => name !== undefined && name !== row.legalName);
  return {
    uei: row.uei,
    eftIndicator: row.eftIndicator,
    cage: row.cage,
    legalName: row.legalName,
    otherNames: [...new Set(otherNames as string[])],
    entityType: row.entityType,
    status: {
      samRegistered: true,
      listedAs: listedAs(row.extractCode),
      expirationDate: row.expirationDate,
      excluded: row.excluded,
    },
    addresses: row.addresses,
    publicDisplay: !row.noPublicDisplay,
    validationSource: row.evsSource,
  };
}

/**
 * What a row of a daily file makes of an entity; undefined where it says too little of one that is not known. A
 * further payment address of an entity never speaks for it: its deactivation ends that address alone.
 */
export function factsFromDailyRow(
  known: RegistryEntityFacts | undefined,
  row: ExtractRow,
): RegistryEntityFacts | undefined {
  if (!known) return row.partial ? undefined : factsFromRow(row);
  const isOfAnother = row.eftIndicator !== known.eftIndicator;
  if (row.partial) return isOfAnother ? known : applyPartialRow(known, row);
  const stays = isOfAnother && row.eftIndicator !== "";
  return stays && (known.eftIndicator === "" || known.status.listedAs === "active") ? known : factsFromRow(row);
}

/** What a partial row (codes 1 and 4) changes of an entity that is already known; all else stays as it was. */
export function applyPartialRow(known: RegistryEntityFacts, row: ExtractRow): RegistryEntityFacts {
  return {
    ...known,
    cage: row.cage ?? known.cage,
    status: { ...known.status, listedAs: listedAs(row.extractCode) },
  };
}

function listedAs(code: ExtractCode): StatusFacts["listedAs"] {
  if (code === "1") return "inactive";
  return code === "E" || code === "4" ? "expired" : "active";
}

function withPartial(before: ExtractRow, row: ExtractRow): ExtractRow {
  return {
    ...before,
    extractCode: row.extractCode,
    cage: row.cage ?? before.cage,
    purpose: row.purpose ?? before.purpose,
  };
}

function precedes(row: ExtractRow, other: ExtractRow): boolean {
  const rank = ({ eftIndicator, extractCode }: ExtractRow) =>
    (eftIndicator === "" ? 0 : 2) + (listedAs(extractCode) === "active" ? 0 : 1);
  if (rank(row) !== rank(other)) return rank(row) < rank(other);
  return (row.lastUpdateDate ?? "") > (other.lastUpdateDate ?? "");
}
