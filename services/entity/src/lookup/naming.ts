import { type IdentifierMap, type IdentifierType, identifierTypes, isWellFormed } from "@vvs/identifiers";
import type { Tenant } from "@vvs/tenant";
import { currentCages } from "../model/cages.ts";
import type { FoundEntity } from "../model/documents.ts";
import type { EntityStore } from "../store.ts";
import type { TinVault } from "../tins/tins.ts";
import { contradictions, type Resolution, resolve } from "./resolve.ts";

/** The entities that identifiers name. */
export interface NamedEntities {
  readonly resolution: Resolution;
  /** The entities of the resolution, none of them hidden. */
  readonly entities: readonly FoundEntity[];
  /** Visible entities that carry any of the given identifiers. */
  readonly carriers: readonly FoundEntity[];
  /** The types of the given identifiers that name an entity. */
  readonly types: readonly IdentifierType[];
  /** The given identifiers that name this entity, carried or remembered. */
  agreementsOf(entity: FoundEntity): IdentifierType[];
  /** The given identifiers that this entity carries with another value. */
  contradictionsOf(entity: FoundEntity): IdentifierType[];
  /** The given identifiers that this entity does not carry. */
  missingFrom(entity: FoundEntity): IdentifierType[];
}

/** Finds the entities that identifiers name for an organization. An ill-formed value names none. */
export async function nameEntities(
  { store, tins }: { store: EntityStore; tins: TinVault },
  tenant: Tenant,
  given: IdentifierMap,
): Promise<NamedEntities> {
  const sound = Object.fromEntries(
    identifierTypes.flatMap((type) => (given[type] && isWellFormed(type, given[type]) ? [[type, given[type]]] : [])),
  ) as IdentifierMap;
  const tinHashes = sound.tin ? tins.hashes(tenant, sound.tin) : [];
  const tinCarriers = new Set(await store.findTinCarriers(tenant, tinHashes));
  const found = await store.findCarriers(tenant, sound, [...tinCarriers]);
  const byCage = carriersOfCage(found, sound.cage);
  const carried = (entity: FoundEntity) => ({
    ...entity.identifiers,
    cage: currentCages(entity).find((cage) => cage === given.cage) ?? entity.identifiers.cage,
    tin: entity.tin_last4 === undefined ? undefined : tinCarriers.has(entity._id),
  });
  const carries = (entity: FoundEntity, type: IdentifierType) => {
    if (type === "tin") return tinCarriers.has(entity._id);
    return type === "cage" ? byCage.includes(entity) : entity.identifiers[type] === sound[type];
  };
  const carriers = found.filter((entity) => identifierTypes.some((type) => sound[type] && carries(entity, type)));
  const namesByCarrying = (type: IdentifierType) =>
    carriers.filter((entity) => carries(entity, type)).map(({ _id }) => _id);

  const uncarried = identifierTypes.filter((type) => sound[type] && namesByCarrying(type).length === 0);
  const remembered = await findRemembered(store, tenant, {
    identifiers: pick(sound, uncarried),
    tinHashes,
    known: found,
  });
  const namings = identifierTypes
    .filter((type) => sound[type])
    .map((type) => ({
      type,
      carriers: namesByCarrying(type),
      remembered: uncarried.includes(type) ? (remembered.idsByType.get(type) ?? []) : [],
    }));
  const resolution = resolve(namings);
  const known = new Map([...remembered.entities, ...carriers].map((entity) => [entity._id, entity]));
  return {
    resolution,
    entities: resolution.kind === "none" ? [] : resolution.ids.map((id) => known.get(id)!),
    carriers,
    types: namings.flatMap(({ type, carriers, remembered }) => (carriers.length + remembered.length > 0 ? [type] : [])),
    agreementsOf: ({ _id }) =>
      namings.filter((naming) => [...naming.carriers, ...naming.remembered].includes(_id)).map(({ type }) => type),
    contradictionsOf: (entity) => contradictions(given, carried(entity)),
    missingFrom: (entity) =>
      identifierTypes.filter((type) => given[type] !== undefined && carried(entity)[type] === undefined),
  };
}

/**
 * Returns the entities that carry a CAGE by the newest file: one that the file lacks does not, unless an organization created
 * it and nobody else carries the CAGE.
 */
function carriersOfCage(found: readonly FoundEntity[], cage: string | undefined): readonly FoundEntity[] {
  const carrying = cage === undefined ? [] : found.filter((entity) => currentCages(entity).includes(cage));
  const listed = carrying.filter((entity) => entity.listed !== false);
  return listed.length > 0 ? listed : carrying.filter((entity) => entity.organization_id !== null);
}

async function findRemembered(
  store: EntityStore,
  tenant: Tenant,
  {
    identifiers,
    tinHashes,
    known,
  }: { identifiers: IdentifierMap; tinHashes: ReturnType<TinVault["hashes"]>; known: readonly FoundEntity[] },
) {
  const documents = await store.findRemembered(tenant, identifiers, identifiers.tin ? tinHashes : []);
  const ids = documents.map(({ entity_id }) => entity_id);
  const isKnown = (id: string) => known.some((entity) => entity._id === id || entity.registry_entity_id === id);
  const others = await store.findVisible(
    tenant,
    ids.filter((id) => !isKnown(id)),
  );
  const entities = [...known, ...others];
  const idsByType = new Map<IdentifierType, string[]>();
  for (const { type, entity_id } of documents) {
    const entity = entities.find(
      ({ _id, registry_entity_id }) => _id === entity_id || registry_entity_id === entity_id,
    );
    if (entity) idsByType.set(type, [...(idsByType.get(type) ?? []), entity._id]);
  }
  return { entities, idsByType };
}

/** Only the identifiers of some types. */
export function pick(identifiers: IdentifierMap, types: readonly IdentifierType[]): IdentifierMap {
  return Object.fromEntries(types.map((type) => [type, identifiers[type]]));
}
