import type { EntityDocument } from "./documents.ts";

/** The CAGEs of an entity. */
type CageFields = Pick<EntityDocument, "identifiers" | "other_cages" | "former_cages">;

/** Returns the CAGEs that an entity carries: by the newest file, those of all its rows. */
export function currentCages({ identifiers: { cage }, other_cages = [] }: CageFields): string[] {
  return [...(cage ? [cage] : []), ...other_cages];
}

/** Returns the identifiers by which rows of exclusions concern an entity, with all CAGEs that it ever carried. */
export function everIdentifiedBy(entity: CageFields): { uei?: string; cages: string[] } {
  return { uei: entity.identifiers.uei, cages: [...currentCages(entity), ...(entity.former_cages ?? [])] };
}

/**
 * Returns the CAGEs that an entity no longer carries, of which a version of it is known; undefined if there are none. A row
 * of the exclusions files without a UEI concerns everyone who ever carried its CAGE.
 */
export function formerCages(entity: CageFields, known: readonly CageFields[]): string[] | undefined {
  const current = new Set(currentCages(entity));
  const former = new Set(known.flatMap((one) => everIdentifiedBy(one).cages).filter((cage) => !current.has(cage)));
  return former.size > 0 ? [...former].sort() : undefined;
}
