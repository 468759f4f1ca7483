import type { RegistryEntityFacts } from "../../model/facts.ts";
import type { ExtractRow } from "./row.ts";

/**
 * Adds a row, in file order, to the rows of its entity (one per EFT indicator, which need not be adjacent in the file).
 * For each EFT indicator the last complete row counts, with the changes of later partial ones: a deactivation keeps the
 * name and the address.
 */
export function addRow(rows: ExtractRow[], row: ExtractRow): void {
  const at = rows.findIndex(({ eft_indicator }) => eft_indicator === row.eft_indicator);
  if (at === -1) rows.push(row);
  else rows[at] = row.partial ? applyPartialRow(rows[at]!, row) : row;
}

/** Returns the row that counts for the entity: that of the blank indicator, else an active one, else the newest. */
export function decidingRow(rows: readonly ExtractRow[]): ExtractRow {
  return rows.reduce((best, row) => (precedes(row, best) ? row : best));
}

/** Returns facts with the CAGEs of the entity's other rows. */
export function withCages<Facts extends RegistryEntityFacts>(
  facts: Facts,
  cages: readonly (string | undefined)[],
): Facts & RegistryEntityFacts {
  const others = new Set(cages.filter((cage) => cage !== undefined && cage !== facts.sam.cage) as string[]);
  return others.size > 0 ? { ...facts, other_cages: [...others].sort() } : facts;
}

/**
 * Returns an entity's facts after a row of a daily file; undefined if a partial row names an unknown entity. A row of
 * another payment address never counts for the entity: its deactivation ends only that address.
 */
export function factsFromDailyRow(
  known: RegistryEntityFacts | undefined,
  row: ExtractRow,
): RegistryEntityFacts | undefined {
  if (!known) return row.partial ? undefined : row;
  const isOfAnother = row.eft_indicator !== known.eft_indicator;
  if (row.partial) return isOfAnother ? known : applyPartialRow(known, row);
  const stays = isOfAnother && row.eft_indicator !== "";
  return stays && (known.eft_indicator === "" || known.sam.listed_as === "active") ? known : row;
}

/** Returns the known facts with the changes of a partial row (codes 1 and 4). */
export function applyPartialRow<Facts extends RegistryEntityFacts>(known: Facts, { sam }: ExtractRow): Facts {
  return { ...known, sam: { ...known.sam, cage: sam.cage ?? known.sam.cage, listed_as: sam.listed_as } };
}

function precedes(row: ExtractRow, other: ExtractRow): boolean {
  const rank = ({ eft_indicator, sam }: ExtractRow) =>
    (eft_indicator === "" ? 0 : 2) + (sam.listed_as === "active" ? 0 : 1);
  if (rank(row) !== rank(other)) return rank(row) < rank(other);
  return (row.lastUpdateDate ?? "") > (other.lastUpdateDate ?? "");
}
