import type { Tenant } from "@vvs/tenant";
import type { CarriedTinDocument, Collections, EntityDocument, RememberedDocument } from "../model/documents.ts";
import { withHiding } from "../store.ts";

/** An entity that an organization asks about. */
export interface SubjectKey {
  readonly organizationId: Tenant["organizationId"];
  readonly entityId: string;
}

/** The fields of an entity that checks need: nearly all of a document is names, addresses and keys to find them by. */
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

export type SubjectEntity = Pick<EntityDocument, (typeof FIELDS)[number]>;

/** What is stored of an entity, as one organization sees it. */
export interface SubjectDocuments {
  readonly entity: SubjectEntity;
  readonly remembered: readonly RememberedDocument[];
  readonly carriedTin: CarriedTinDocument | undefined;
}

/**
 * Reads entities of one environment for several organizations in as many round trips as for one; undefined where an
 * organization sees no such entity. The queries reach no organization that did not ask, and each gets what is the
 * registry's or its own.
 */
export async function findSubjectDocuments(
  { entities, remembered, carriedTins }: Collections,
  keys: readonly SubjectKey[],
): Promise<(SubjectDocuments | undefined)[]> {
  const organizations = distinct(keys.map(({ organizationId }) => organizationId));
  const asked = distinct(keys.map(({ entityId }) => entityId));
  const found = await entities
    .find({
      $or: [
        { _id: { $in: asked }, organization_id: { $in: [null, ...organizations] } },
        { organization_id: { $in: organizations }, registry_entity_id: { $in: asked } },
      ],
    })
    .project<SubjectEntity>(Object.fromEntries(FIELDS.map((field) => [field, 1])))
    .toArray();
  const seen = keys.map((key) => entitySeenBy(key, found));
  const registryIds = distinct(seen.flatMap((entity) => (entity ? (registryIdOf(entity) ?? []) : [])));
  const withTin = seen.flatMap((entity) => (entity?.tin_last4 === undefined ? [] : entity._id));
  const own = { organization_id: { $in: organizations } };
  const [memories, tins] = await Promise.all([
    registryIds.length > 0 ? remembered.find({ ...own, entity_id: { $in: registryIds } }).toArray() : [],
    withTin.length > 0 ? carriedTins.find({ ...own, _id: { $in: withTin } }).toArray() : [],
  ]);
  return keys.map(({ organizationId }, index) => {
    const entity = seen[index];
    if (!entity) return undefined;
    const isOwn = ({ organization_id }: { organization_id: string }) => organization_id === organizationId;
    const registryId = registryIdOf(entity);
    return {
      entity,
      remembered: memories.filter((memory) => isOwn(memory) && memory.entity_id === registryId),
      carriedTin: tins.find((tin) => isOwn(tin) && tin._id === entity._id),
    };
  });
}

function entitySeenBy(
  { organizationId, entityId }: SubjectKey,
  found: readonly SubjectEntity[],
): SubjectEntity | undefined {
  const visible = found.filter(({ organization_id: owner }) => owner === null || owner === organizationId);
  const asked = visible.filter(({ _id }) => _id === entityId);
  return withHiding(asked, visible)[0];
}

/** What was remembered of a registry entity stays known when an own one takes it over. */
function registryIdOf({ _id, organization_id, registry_entity_id }: SubjectEntity): string | undefined {
  return organization_id === null ? _id : registry_entity_id;
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
