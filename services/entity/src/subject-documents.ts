import type { Tenant } from "@vvs/tenant";
import type { Filter } from "mongodb";
import type { CarriedTinDocument, Collections, EntityDocument, RememberedDocument } from "./model/documents.ts";
import { withHiding } from "./store.ts";

/** The key of an entity as one organization sees it. */
export interface SubjectKey {
  readonly tenant: Tenant;
  readonly entityId: string;
}

/** The fields that checks need; most of a document is names, addresses and match keys. */
const FIELDS = [
  "_id",
  "organization_id",
  "registry_entity_id",
  "identifiers",
  "legal_name",
  "placeholder",
  "tin_last4",
  "sam",
] as const satisfies (keyof EntityDocument)[];

type SubjectEntity = Pick<EntityDocument, (typeof FIELDS)[number]>;

/** What is stored about an entity, as one organization sees it. */
export interface SubjectDocuments {
  readonly entity: SubjectEntity;
  readonly remembered: readonly RememberedDocument[];
  readonly carriedTin: CarriedTinDocument | undefined;
}

/**
 * Reads entities of one environment for several organizations, in as many commands as for one. Returns undefined where an
 * organization can't see the entity: each gets only the registry's entities and its own.
 */
export async function findSubjectDocuments(
  { entities, remembered, carriedTins }: Collections,
  keys: readonly SubjectKey[],
): Promise<(SubjectDocuments | undefined)[]> {
  // One command for both, as a command costs more than what it reads here.
  const found = await entities
    .aggregate<SubjectEntity | RememberedDocument>([
      { $match: seenUnder(keys) },
      { $project: projectionOf(FIELDS) },
      { $unionWith: { coll: remembered.collectionName, pipeline: [{ $match: { $or: pairsOf(keys, "entity_id") } }] } },
    ])
    .toArray();
  const asRequested = found.filter((one): one is RememberedDocument => "entity_id" in one);
  const visible = found.filter((one): one is SubjectEntity => !("entity_id" in one));
  const seen = keys.map((key) => entitySeenBy(key, visible));
  // Only where an own entity took over the registry's, something may be stored for the other of the two.
  const others = keys.flatMap(({ tenant, entityId }, index) =>
    suppliedFor(seen[index]).flatMap((id) => (id === entityId ? [] : { tenant, entityId: id })),
  );
  const withTin = seen.flatMap((entity) => (entity?.tin_last4 === undefined ? [] : entity._id));
  const [further, tins] = await Promise.all([
    others.length > 0 ? remembered.find({ $or: pairsOf(others, "entity_id") }).toArray() : [],
    withTin.length > 0 ? carriedTins.find({ _id: { $in: withTin }, organization_id: ownersOf(keys) }).toArray() : [],
  ]);
  const memories = new Map([...asRequested, ...further].map((memory) => [memory._id, memory]));
  return keys.map(({ tenant: { organizationId } }, index) => {
    const entity = seen[index];
    if (!entity) return undefined;
    const isOwn = ({ organization_id }: { organization_id: string }) => organization_id === organizationId;
    const ids = suppliedFor(entity);
    return {
      entity,
      remembered: [...memories.values()].filter((memory) => isOwn(memory) && ids.includes(memory.entity_id)),
      carriedTin: tins.find((tin) => isOwn(tin) && tin._id === entity._id),
    };
  });
}

const NAME_FIELDS = ["_id", "organization_id", "identifiers", "registry_entity_id", "legal_name"] as const;

type NamedEntity = Pick<EntityDocument, (typeof NAME_FIELDS)[number]>;

/** Returns the entities that organizations see under ids, with their names, in one command; undefined where one sees none. */
export async function findSeen(
  entities: Collections["entities"],
  keys: readonly SubjectKey[],
): Promise<(NamedEntity | undefined)[]> {
  const found = await entities.find(seenUnder(keys)).project<NamedEntity>(projectionOf(NAME_FIELDS)).toArray();
  return keys.map((key) => entitySeenBy(key, found));
}

const projectionOf = (fields: readonly string[]) => Object.fromEntries(fields.map((field) => [field, 1]));

type SeenFields = Pick<EntityDocument, "_id" | "organization_id" | "identifiers" | "registry_entity_id">;

/** The entities that may be seen under these ids: those with the id, and own ones that took over a registry's. */
function seenUnder(keys: readonly SubjectKey[]): Filter<EntityDocument> {
  const ids = distinct(keys.map(({ entityId }) => entityId));
  const visible = { _id: { $in: ids }, organization_id: { $in: [null, ...ownersOf(keys).$in] } };
  return { $or: [visible, ...pairsOf(keys, "registry_entity_id")] };
}

/** Up to this number of combinations of an organization and an id, one filter for all costs less than one for each organization. */
const MAX_COMBINED = 256;

/**
 * Filters for the pairs of an organization and an id. MongoDB plans each filter, and in one for several organizations it seeks
 * every combination: a few of those cost less than the planning. What is found beyond the pairs is the callers' to leave out.
 */
function pairsOf<Field extends string>(keys: readonly SubjectKey[], field: Field) {
  const byOwner = Map.groupBy(keys, ({ tenant }) => tenant.organizationId);
  const isFew = byOwner.size * distinct(keys.map(({ entityId }) => entityId)).length <= MAX_COMBINED;
  return (isFew ? [keys] : [...byOwner.values()]).map((some) => {
    const ids = { [field]: { $in: distinct(some.map(({ entityId }) => entityId)) } } as Record<
      Field,
      { $in: string[] }
    >;
    return { organization_id: ownersOf(some), ...ids };
  });
}

const ownersOf = (keys: readonly SubjectKey[]) => ({
  $in: distinct(keys.map(({ tenant }) => tenant.organizationId)),
});

function entitySeenBy<Seen extends SeenFields>(
  { tenant: { organizationId }, entityId }: SubjectKey,
  found: readonly Seen[],
): Seen | undefined {
  const visible = found.filter(({ organization_id: owner }) => owner === null || owner === organizationId);
  const wanted = visible.filter(({ _id }) => _id === entityId);
  return withHiding(wanted, visible)[0];
}

/** Returns the entities for which the organization supplied what is remembered: also the one that an own one took over. */
function suppliedFor(entity: SubjectEntity | undefined): string[] {
  return entity ? [entity._id, entity.registry_entity_id ?? []].flat() : [];
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
