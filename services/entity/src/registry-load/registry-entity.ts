import { newId } from "@vvs/ids";
import { currentCages, everIdentifiedBy, formerCages } from "../model/cages.ts";
import type { EntityDocument, SourceDocument, UnversionedEntity } from "../model/documents.ts";
import { type KnownExclusions, withExclusions } from "../model/exclusions.ts";
import type { RegistryEntityFacts } from "../model/facts.ts";
import { matchKeysOf } from "../model/match-keys.ts";
import { claimsOf } from "../model/own-entity.ts";
import type { RegistryRowDocument } from "../model/registry-row.ts";
import { factsHash } from "./facts-hash.ts";

/** What a load adds to the facts of its rows. */
export interface LoadContext {
  /** The file, as a source of the facts. */
  readonly source: SourceDocument;
  readonly exclusions: KnownExclusions;
  readonly loadId: string | undefined;
  readonly now: Date;
}

const MAX_OTHER_NAMES = 8;

/** Returns the registry entity of a row's facts; a known one keeps its id and its creation date. */
export function registryEntity(
  previous: EntityDocument | undefined,
  facts: RegistryEntityFacts,
  { source, exclusions, loadId, now }: LoadContext,
): UnversionedEntity {
  const { uei, legal_name, other_names, addresses, sam, other_cages = [] } = facts;
  const named = { legal_name, placeholder: false, other_names: other_names.slice(0, MAX_OTHER_NAMES), addresses };
  const entity: UnversionedEntity = {
    _id: previous?._id ?? newId("ent", now),
    organization_id: null,
    ...named,
    ...matchKeysOf(named),
    identifiers: { uei, ...(sam.cage && { cage: sam.cage }) },
    ...(other_cages.length > 0 && { other_cages }),
    sam,
    exclusions: [],
    sources: [source],
    listed: true,
    registry_row: rowOf(previous, facts, loadId),
    created_at: previous?.created_at ?? now,
  };
  const isOfSameLoad = previous?.registry_row?.load_id === entity.registry_row?.load_id;
  const before = previous && (isOfSameLoad ? previous : { ...previous, new_cages: undefined });
  const new_cages = newCages(currentCages(entity), before);
  const row_before = isOfSameLoad ? previous?.row_before : rowStateOf(previous);
  const known = { ...entity, ...(new_cages && { new_cages }), ...(row_before && { row_before }) };
  return withExclusions(withFormerCages(known, previous ? [previous] : []), exclusions);
}

/** Returns what an entity has by its row; undefined if it has none. */
function rowStateOf(entity: EntityDocument | undefined): EntityDocument["row_before"] {
  if (!entity?.registry_row?.load_id) return undefined;
  const { legal_name, other_names, addresses, identifiers, sources, sam, listed, registry_row } = entity;
  const { other_cages, former_cages, new_cages } = entity;
  const carried = {
    ...(other_cages && { other_cages }),
    ...(former_cages && { former_cages }),
    ...(new_cages && { new_cages }),
  };
  return { legal_name, other_names, addresses, identifiers, sources, sam, listed, registry_row, ...carried };
}

/** Returns those of the CAGEs that the entity never carried before or that were new before; undefined if there are none. */
function newCages(cages: readonly string[], previous: EntityDocument | undefined): string[] | undefined {
  const old = previous ? everIdentifiedBy(previous).cages.filter((cage) => !previous.new_cages?.includes(cage)) : [];
  const added = cages.filter((cage) => !old.includes(cage));
  return added.length > 0 ? added : undefined;
}

function withFormerCages(
  { former_cages, ...entity }: UnversionedEntity,
  known: readonly UnversionedEntity[],
): UnversionedEntity {
  const former = formerCages(entity, known);
  return { ...entity, ...(former && { former_cages: former }) };
}

/** Returns the row of these facts. If a listed entity was made from the same row before, the row keeps its load. */
function rowOf(
  previous: EntityDocument | undefined,
  facts: RegistryEntityFacts,
  loadId: string | undefined,
): RegistryRowDocument {
  const row = { eft_indicator: facts.eft_indicator, hash: factsHash(facts) };
  const isSame = previous?.listed && previous.registry_row?.hash === row.hash;
  const broughtBy = isSame ? previous.registry_row?.load_id : loadId;
  return { ...row, ...(broughtBy && { load_id: broughtBy }) };
}

/** Returns the facts of a registry entity in the form of a row's. */
export function factsOf(entity: EntityDocument): RegistryEntityFacts {
  const { legal_name, other_names, addresses, sam, other_cages } = entity;
  const eft_indicator = entity.registry_row?.eft_indicator ?? "";
  return { uei: entity.identifiers.uei!, eft_indicator, legal_name, other_names, addresses, sam: sam!, other_cages };
}

/**
 * Returns an own entity with the facts of the registry entity that it takes over. It keeps its id, its DUNS and TIN, which
 * the registry does not have, and its former name, to be found by. `takesCage` is false if another own entity of the
 * organization carries that CAGE.
 */
export function ownWithRegistry(
  own: EntityDocument,
  registry: UnversionedEntity,
  { exclusions }: Pick<LoadContext, "exclusions">,
  takesCage: boolean,
): UnversionedEntity {
  const { version, last_hash, changed_at, listed, other_cages, ...kept } = own;
  const cage = takesCage ? registry.identifiers.cage : undefined;
  const identifiers = { ...own.identifiers, uei: registry.identifiers.uei, ...(cage && { cage }) };
  const formerNames = own.placeholder ? [] : [own.legal_name];
  const otherNames = new Set([...registry.other_names, ...own.other_names, ...formerNames]);
  otherNames.delete(registry.legal_name);
  const named = {
    legal_name: registry.legal_name,
    placeholder: false,
    other_names: [...otherNames].slice(0, MAX_OTHER_NAMES),
    addresses: registry.addresses.length > 0 ? registry.addresses : own.addresses,
  };
  const entity: UnversionedEntity = {
    ...kept,
    ...named,
    ...matchKeysOf(named),
    identifiers,
    claims: claimsOf(identifiers),
    other_cages: othersOf(registry, identifiers.cage),
    new_cages: newCages(registry.new_cages ?? [], own),
    sam: registry.sam,
    sources: [...own.sources.filter(({ name }) => name === "organization"), ...registry.sources],
    registry_entity_id: registry._id,
    before_takeover: beforeTakeover(own, registry),
    ...(registry.listed === false && { listed: false }),
  };
  return withExclusions(withFormerCages(entity, [own, registry]), exclusions);
}

/** Returns what an own entity was before it took the registry entity over; undefined if that is not known. */
function beforeTakeover(own: EntityDocument, { registry_row }: UnversionedEntity): EntityDocument["before_takeover"] {
  const load_id = registry_row?.load_id;
  const hasRow = own.sources.some(({ name }) => name === "sam_gov_extract");
  if (own.before_takeover || hasRow || !load_id) return own.before_takeover;
  const { legal_name, placeholder, other_names, addresses, identifiers, sam, sources } = own;
  return { load_id, legal_name, placeholder, other_names, addresses, identifiers, sources, ...(sam && { sam }) };
}

/** Returns the CAGEs of a registry entity that an own one does not carry itself. */
function othersOf(registry: UnversionedEntity, cage: string | undefined): string[] | undefined {
  const others = currentCages(registry).filter((one) => one !== cage);
  return others.length > 0 ? others : undefined;
}
