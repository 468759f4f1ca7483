import type { Tenant } from "@vvs/tenant";
import type { CarriedTinDocument, Collections, EntityDocument, RememberedDocument } from "../model/documents.ts";
import { withHiding } from "../store.ts";

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
 * Reads entities of one environment for several organizations, in as many round trips as for one. Returns undefined where
 * an organization can't see the entity: the queries are limited to the organizations of the keys, and each gets only the
 * registry's entities and its own.
 */
export async function findSubjectDocuments(
  { entities, remembered, carriedTins }: Collections,
  keys: readonly SubjectKey[],
): Promise<(SubjectDocuments | undefined)[]> {
  const organizations = distinct(keys.map(({ tenant }) => tenant.organizationId));
  const wanted = distinct(keys.map(({ entityId }) => entityId));
  const found = await entities
    .find({
      $or: [
        { _id: { $in: wanted }, organization_id: { $in: [null, ...organizations] } },
        { organization_id: { $in: organizations }, registry_entity_id: { $in: wanted } },
      ],
    })
    .project<SubjectEntity>(Object.fromEntries(FIELDS.map((field) => [field, 1])))
    .toArray();
  const seen = keys.map((key) => entitySeenBy(key, found));
  const supplied = distinct(seen.flatMap((entity) => (entity ? suppliedFor(entity) : [])));
  const withTin = seen.flatMap((entity) => (entity?.tin_last4 === undefined ? [] : entity._id));
  const own = { organization_id: { $in: organizations } };
  const [memories, tins] = await Promise.all([
    supplied.length > 0 ? remembered.find({ ...own, entity_id: { $in: supplied } }).toArray() : [],
    withTin.length > 0 ? carriedTins.find({ ...own, _id: { $in: withTin } }).toArray() : [],
  ]);
  return keys.map(({ tenant: { organizationId } }, index) => {
    const entity = seen[index];
    if (!entity) return undefined;
    const isOwn = ({ organization_id }: { organization_id: string }) => organization_id === organizationId;
    const ids = suppliedFor(entity);
    return {
      entity,
      remembered: memories.filter((memory) => isOwn(memory) && ids.includes(memory.entity_id)),
      carriedTin: tins.find((tin) => isOwn(tin) && tin._id === entity._id),
    };
  });
}

function entitySeenBy(
  { tenant: { organizationId }, entityId }: SubjectKey,
  found: readonly SubjectEntity[],
): SubjectEntity | undefined {
  const visible = found.filter(({ organization_id: owner }) => owner === null || owner === organizationId);
  const wanted = visible.filter(({ _id }) => _id === entityId);
  return withHiding(wanted, visible)[0];
}

/** Returns the entities for which the organization supplied what is remembered: also the one that an own one took over. */
function suppliedFor({ _id, registry_entity_id }: SubjectEntity): string[] {
  return registry_entity_id ? [_id, registry_entity_id] : [_id];
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
