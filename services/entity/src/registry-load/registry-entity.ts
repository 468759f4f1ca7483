import { newId } from "@vvs/ids";
import type {
  EntityDocument,
  ExclusionDocument,
  RegistryRowDocument,
  SamFacts,
  SourceDocument,
} from "../model/documents.ts";
import { periodsOf } from "../model/exclusions.ts";
import type { RegistryEntityFacts } from "../model/facts.ts";
import { matchKeysOf } from "../model/match-keys.ts";
import { claimsOf } from "../model/own-entity.ts";
import type { UnversionedEntity } from "../model/snapshots.ts";
import { factsHash } from "./facts-hash.ts";

/** What a load takes facts from. */
export interface LoadContext {
  /** The file, as a source of the facts. */
  readonly source: SourceDocument;
  /** The rows of the loaded exclusions that may concern the entities at hand, and their file. */
  readonly exclusions: readonly ExclusionDocument[];
  readonly exclusionsSource: SourceDocument | undefined;
  readonly loadId: string | undefined;
  readonly now: Date;
}

const MAX_OTHER_NAMES = 8;

/** The registry entity of a row's facts; its id and its creation stay as they were. */
export function registryEntity(
  previous: EntityDocument | undefined,
  facts: RegistryEntityFacts,
  context: LoadContext,
): UnversionedEntity {
  const identifiers = { uei: facts.uei, ...(facts.cage && { cage: facts.cage }) };
  const exclusions = periodsOf(context.exclusions, identifiers);
  const named = {
    legal_name: facts.legalName,
    placeholder: false,
    other_names: facts.otherNames.slice(0, MAX_OTHER_NAMES),
    addresses: facts.addresses,
  };
  return {
    _id: previous?._id ?? newId("ent", context.now),
    organization_id: null,
    ...named,
    ...matchKeysOf(named),
    identifiers,
    sam: samFacts(facts),
    exclusions,
    sources: [context.source, ...(exclusions.length > 0 ? sourcesOf(context.exclusionsSource) : [])],
    listed: true,
    registry_row: rowOf(previous, facts, context.loadId),
    created_at: previous?.created_at ?? context.now,
  };
}

/** The row of these facts; one that a listed entity was made from already stays that of the load which brought it. */
function rowOf(
  previous: EntityDocument | undefined,
  facts: RegistryEntityFacts,
  loadId: string | undefined,
): RegistryRowDocument {
  const hash = factsHash(facts);
  const row = { eft_indicator: facts.eftIndicator, hash };
  const broughtBy = previous?.listed && previous.registry_row?.hash === hash ? previous.registry_row.load_id : loadId;
  return { ...row, ...(broughtBy && { load_id: broughtBy }) };
}

/** The facts that a registry entity holds, as a row would give them. */
export function factsOf(entity: EntityDocument): RegistryEntityFacts {
  const sam = entity.sam!;
  return {
    uei: entity.identifiers.uei!,
    eftIndicator: entity.registry_row?.eft_indicator ?? "",
    cage: entity.identifiers.cage,
    legalName: entity.legal_name,
    otherNames: [...entity.other_names],
    entityType: sam.entity_type,
    status: {
      samRegistered: sam.sam_registered,
      listedAs: sam.listed_as,
      expirationDate: sam.expiration_date,
      excluded: sam.excluded,
    },
    addresses: [...entity.addresses],
    publicDisplay: true,
  };
}

/**
 * An own entity with the facts of the registry entity that it stands for in its organization. It keeps its id, what
 * the registry does not know (DUNS, TIN) and, to be found by, its former name. `takesCage` is false where another own
 * entity of the organization carries that CAGE.
 */
export function ownWithRegistry(
  own: EntityDocument,
  registry: UnversionedEntity,
  context: Pick<LoadContext, "exclusions">,
  takesCage: boolean,
): UnversionedEntity {
  const { version, last_hash, changed_at, ...kept } = own;
  const cage = takesCage ? registry.identifiers.cage : undefined;
  const identifiers = { ...own.identifiers, uei: registry.identifiers.uei, ...(cage && { cage }) };
  const formerNames = own.placeholder || own.legal_name === registry.legal_name ? [] : [own.legal_name];
  const otherNames = new Set([...registry.other_names, ...own.other_names, ...formerNames]);
  otherNames.delete(registry.legal_name);
  const named = {
    legal_name: registry.legal_name,
    placeholder: false,
    other_names: [...otherNames].slice(0, MAX_OTHER_NAMES),
    addresses: registry.addresses.length > 0 ? registry.addresses : own.addresses,
  };
  return {
    ...kept,
    ...named,
    ...matchKeysOf(named),
    identifiers,
    claims: claimsOf(identifiers),
    sam: registry.sam,
    exclusions: periodsOf(context.exclusions, identifiers),
    sources: [...own.sources.filter(({ name }) => name === "organization"), ...registry.sources],
    registry_entity_id: registry._id,
  };
}

function samFacts({ status, cage, entityType }: RegistryEntityFacts): SamFacts {
  return {
    sam_registered: status.samRegistered,
    listed_as: status.listedAs,
    ...(status.expirationDate && { expiration_date: status.expirationDate }),
    excluded: status.excluded,
    ...(cage && { cage }),
    ...(entityType && { entity_type: entityType }),
  };
}

function sourcesOf(source: SourceDocument | undefined): SourceDocument[] {
  return source ? [source] : [];
}
