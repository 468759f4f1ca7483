import { cageOf, indexOfUei, ueiOf } from "../registry/identifiers.ts";
import { nameOf } from "./files.ts";
import type { Population } from "./population.ts";

/** Returns the id of a vendor's entity. */
export function entityOf(vendor: number): string {
  return `ent_${vendor}`;
}

/** Returns the subject of checks of an entity, as the entity service does. */
export function subjectOf(population: Population, entityId: string) {
  const vendor = Number(entityId.slice("ent_".length));
  const [uei, cage] = [ueiOf(population.seed, vendor), cageOf(population.seed, vendor)];
  const nothing = {
    tinHash: new Uint8Array(),
    tinMatchRecorded: false,
    entityType: "",
    createdByOrganization: false,
    externalId: "",
  };
  return { entityId, legalName: nameOf(vendor), uei, cage, ...nothing };
}

/** Returns the vendor of a UEI. */
export function vendorOf(population: Population, uei: string): number {
  return indexOfUei(population.seed, uei);
}
