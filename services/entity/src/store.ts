import { byKey, createBatcher } from "@vvs/batching";
import type { IdentifierMap } from "@vvs/identifiers";
import { findPage } from "@vvs/mongo";
import type { PageRequest } from "@vvs/proto/common/v1/common";
import { type Environment, perEnvironment, type Tenant } from "@vvs/tenant";
import type { Binary, Collection, Filter } from "mongodb";
import type {
  CarriedTinDocument,
  Collections,
  EntityDocument,
  ExternalIdDocument,
  FoundEntity,
  PublicEntity,
  RememberedDocument,
  SnapshotDocument,
} from "./model/documents.ts";
import { createSharedReads, MAX_CARRIERS, type RememberedIdentifier, WITHOUT_KEYS } from "./shared-reads.ts";

/** Reads what one organization sees. Every method puts the tenant into its query. */
export type EntityStore = ReturnType<typeof createEntityStore>;

/** Maximum number of recently changed own entities that are compared with a name. */
const MAX_RECENT = 100;
/** Maximum number of entities that one command reads for single calls. */
const MAX_SHOWN = 50;

export function createEntityStore(options: { collections: Readonly<Record<Environment, Collections>> }) {
  const of = (tenant: Tenant) => options.collections[tenant.environment];
  const findVisible = async (tenant: Tenant, ids: readonly string[]): Promise<EntityDocument[]> => {
    if (ids.length === 0) return [];
    const wanted = new Set(ids);
    const ways: Filter<EntityDocument>[] = [
      { _id: { $in: [...wanted] }, organization_id: visibleTo(tenant) },
      hidingAny(tenant, [...wanted]),
    ];
    const found = await of(tenant).entities.find({ $or: ways }).toArray();
    return withHiding(
      found.filter(({ _id }) => wanted.has(_id)),
      found,
    );
  };
  /** All that the organization supplied about an entity, where it was read with it, so that most reads query MongoDB once. */
  const readAlong = new WeakMap<FoundEntity, RememberedDocument[]>();
  /**
   * Finds entities, and with them what the organization supplied about those among these ids. `changedSince`: its own
   * entities that changed since then are found too, the newest ones, in addition to the limit.
   */
  const findAlong = async (
    tenant: Tenant,
    options: { ids: readonly string[]; filter: Filter<EntityDocument>; limit: number; changedSince?: Date },
  ): Promise<FoundEntity[]> => {
    const { ids, filter, limit, changedSince } = options;
    const { entities, remembered } = of(tenant);
    const ofThese = { organization_id: tenant.organizationId, entity_id: { $in: [...ids] } };
    const changed = [
      { $match: { organization_id: tenant.organizationId, own_changed_at: { $gt: changedSince } } },
      { $sort: { own_changed_at: -1 } },
      { $limit: MAX_RECENT },
    ];
    // One command for all, as a command costs more than what it reads here.
    const all = await entities
      .aggregate<FoundEntity | RememberedDocument>([
        { $match: filter },
        { $limit: limit },
        ...(changedSince ? [{ $unionWith: { coll: entities.collectionName, pipeline: changed } }] : []),
        { $project: WITHOUT_KEYS },
        { $unionWith: { coll: remembered.collectionName, pipeline: [{ $match: ofThese }] } },
      ])
      .toArray();
    const each = all.filter((one): one is FoundEntity => !("entity_id" in one));
    const found = [...new Map(each.map((entity) => [entity._id, entity])).values()];
    const along = all.filter((one) => "entity_id" in one);
    for (const entity of found) {
      if (ids.includes(entity._id)) {
        keepAlong(
          entity,
          along.filter(({ entity_id }) => entity_id === entity._id),
        );
      }
    }
    return found;
  };
  const keepAlong = (entity: FoundEntity, along: RememberedDocument[]) => {
    // For one that took over a registry entity, what was supplied about that one counts too, and was not read.
    if (!entity.registry_entity_id) readAlong.set(entity, along);
  };
  const showOf = async (tenant: Tenant, ids: readonly string[]): Promise<(FoundEntity | undefined)[]> => {
    const wanted = [...new Set(ids)];
    const visible = { _id: { $in: wanted }, organization_id: visibleTo(tenant) };
    const found = await findAlong(tenant, { ids: wanted, filter: visible, limit: wanted.length });
    // Few reads are of registry entities, so what may hide them is not part of the command above.
    const hiding = await findHiding(of(tenant), tenant, found);
    const shown = new Map(
      found.flatMap((entity) => withHiding([entity], hiding)).map((entity) => [entity._id, entity]),
    );
    return ids.map((id) => shown.get(id));
  };
  const showBatched = createBatcher<{ tenant: Tenant; id: string }, FoundEntity | undefined>({
    maxSize: MAX_SHOWN,
    // Calls that come while a command runs share the next one.
    atOnce: 1,
    run: byKey(
      ({ tenant }) => `${tenant.environment} ${tenant.organizationId}`,
      (group) =>
        showOf(
          group[0]!.tenant,
          group.map(({ id }) => id),
        ),
    ),
  });
  const shared = perEnvironment((environment) => createSharedReads(options.collections[environment]));
  return {
    /** Returns an entity that the organization sees under this id, to be shown to it. Calls at the same time share a command. */
    findToShow: (tenant: Tenant, id: string) => showBatched({ tenant, id }),
    /** Returns the visible entities among these ids; an own entity takes the place of the registry entity that it hides. */
    findVisible,
    /** Returns at most `limit` visible entities that an indexed filter finds. */
    async findWhere(tenant: Tenant, filter: Filter<EntityDocument>, limit: number): Promise<FoundEntity[]> {
      const visible: Filter<EntityDocument> = { ...filter, organization_id: visibleTo(tenant) };
      const options = { projection: WITHOUT_KEYS, limit };
      return withoutHidden(of(tenant), tenant, await of(tenant).entities.find<FoundEntity>(visible, options).toArray());
    },
    /**
     * Returns the visible entities among these ids, as findVisible does, and the organization's own ones that changed since
     * a time, which an index that lags behind does not have.
     */
    async findMatches(tenant: Tenant, ids: readonly string[], changedSince: Date): Promise<FoundEntity[]> {
      const ways: Filter<EntityDocument>[] = [
        { _id: { $in: [...ids] }, organization_id: visibleTo(tenant) },
        hidingAny(tenant, [...ids]),
      ];
      const found = await findAlong(tenant, { ids, filter: { $or: ways }, limit: ids.length * 2 + 1, changedSince });
      return withHiding(found, found);
    },
    /**
     * Returns the visible entities that carry one of these, also those that a newer file lacks. `tinCarriers` carry the TIN.
     * Calls with only a UEI at the same time share a command.
     */
    async findCarriers(
      tenant: Tenant,
      identifiers: IdentifierMap,
      tinCarriers: readonly string[],
    ): Promise<FoundEntity[]> {
      const { uei, cage, duns } = identifiers;
      const visible = { organization_id: visibleTo(tenant) };
      const own = { organization_id: tenant.organizationId };
      const ways: Filter<EntityDocument>[] = [];
      if (uei) ways.push({ "identifiers.uei": uei, ...visible });
      if (cage) ways.push({ "identifiers.cage": cage, ...visible }, { other_cages: cage, ...visible });
      if (duns) ways.push({ claims: `duns:${duns}`, ...own });
      if (tinCarriers.length > 0) ways.push({ _id: { $in: [...tinCarriers] }, ...own });
      if (ways.length === 0) return [];
      if (uei && ways.length === 1) {
        const found = await shared[tenant.environment].byUei({ organizationId: tenant.organizationId, uei });
        for (const { entity, remembered } of found) keepAlong(entity, remembered);
        const entities = found.map(({ entity }) => entity);
        // An own entity that took over a registry entity carries its UEI, so both were found.
        return withHiding(entities, entities);
      }
      const options = { projection: WITHOUT_KEYS, limit: MAX_CARRIERS };
      const found = await of(tenant).entities.find<FoundEntity>({ $or: ways }, options).toArray();
      return withoutHidden(of(tenant), tenant, found);
    },
    /** Returns the ids of the organization's own entities that carry a TIN with one of these hashes. */
    async findTinCarriers({ environment, organizationId }: Tenant, tinHashes: readonly Binary[]): Promise<string[]> {
      return tinHashes.length > 0 ? shared[environment].tinCarriers({ organizationId, tinHashes }) : [];
    },
    /** Returns the TIN that an own entity carries. */
    findCarriedTin: async (tenant: Tenant, entityId: string): Promise<CarriedTinDocument | undefined> =>
      (await of(tenant).carriedTins.findOne({ _id: entityId, organization_id: tenant.organizationId })) ?? undefined,
    /** Returns what the organization remembers under these identifiers. Calls at the same time share a command. */
    async findRemembered(
      { environment, organizationId }: Tenant,
      identifiers: IdentifierMap,
      tinHashes: readonly Binary[],
    ): Promise<RememberedIdentifier[]> {
      const isNone = Object.keys(identifiers).length === 0 && tinHashes.length === 0;
      return isNone ? [] : shared[environment].remembered({ organizationId, identifiers, tinHashes });
    },
    /** Returns what the organization supplied about these entities, its own numbers of them included. */
    async rememberedOf(tenant: Tenant, entities: readonly FoundEntity[]): Promise<Map<string, RememberedDocument[]>> {
      const along = entities.map((entity) => readAlong.get(entity));
      if (along.some((remembered) => !remembered)) return rememberedOf(of(tenant), tenant, entities);
      return new Map(entities.map(({ _id }, index) => [_id, along[index]!]));
    },
    async findByContent(tenant: Tenant, hashes: readonly Binary[]): Promise<EntityDocument | undefined> {
      const filter = { organization_id: tenant.organizationId, content_hash: { $in: [...hashes] } };
      return (await of(tenant).entities.findOne(filter)) ?? undefined;
    },
    /** Returns the organization's own number of an entity; "" where it gave none. */
    async externalIdOf(tenant: Tenant, entity: FoundEntity): Promise<string> {
      const remembered = await rememberedOf(of(tenant), tenant, [entity]);
      return externalIdIn(entity, remembered.get(entity._id))?.external_id ?? "";
    },
    /**
     * Returns the visible entities to which the organization gave a number, newest first. One that it sees as another
     * entity with a number of its own is left out, so a page can be short.
     */
    async listByExternalId(tenant: Tenant, externalId: string, page: PageRequest | undefined) {
      const { after } = page ?? {};
      const keyed = after && { ...after, id: externalIdKey(tenant, after.id) };
      const numbers = of(tenant).remembered as unknown as Collection<ExternalIdDocument>;
      const filter = { organization_id: tenant.organizationId, external_id: externalId };
      const { items, next } = await findPage(numbers, filter, page && { ...page, after: keyed });
      const ids = items.map(({ entity_id }) => entity_id);
      const entities = await findVisible(tenant, ids);
      const remembered = await rememberedOf(of(tenant), tenant, entities);
      const shown = items.flatMap(({ _id }) =>
        entities.filter((entity) => externalIdIn(entity, remembered.get(entity._id))?._id === _id),
      );
      return { items: shown, next: next && { ...next, id: ids.at(-1)! } };
    },
    listOwn: (tenant: Tenant, page: PageRequest | undefined) =>
      findPage<EntityDocument, FoundEntity>(of(tenant).entities, { organization_id: tenant.organizationId }, page, {
        projection: WITHOUT_KEYS,
      }),
    countOwn: (tenant: Tenant) => of(tenant).entities.countDocuments({ organization_id: tenant.organizationId }),
    /** Returns an own entity as its snapshot of that version shows it. */
    async viewAt(tenant: Tenant, entityId: string, version: number): Promise<PublicEntity | undefined> {
      const filter = { entity_id: entityId, organization_id: tenant.organizationId, version };
      return (await of(tenant).snapshots.findOne(filter))?.entity;
    },
    listSnapshots(tenant: Tenant, entity: EntityDocument, page: PageRequest | undefined) {
      const owner = entity.organization_id === null ? { $exists: false } : tenant.organizationId;
      const filter: Filter<SnapshotDocument> = { entity_id: entity._id, organization_id: owner };
      return findPage(of(tenant).snapshots, filter, page);
    },
  };
}

/** Returns the id of the document with the organization's own number of an entity. Ordered as the ids of entities are. */
export function externalIdKey({ organizationId }: Tenant, entityId: string): string {
  return `${organizationId}/${entityId}/external_id`;
}

/**
 * Returns the organization's own number of an entity among what it supplied about it. A number of the registry entity that
 * an own one took over counts where that has none itself.
 */
export function externalIdIn(
  { _id }: Pick<FoundEntity, "_id">,
  remembered: readonly RememberedDocument[] = [],
): RememberedDocument | undefined {
  const numbers = remembered.filter(({ type }) => type === "external_id");
  return numbers.find(({ entity_id }) => entity_id === _id) ?? numbers[0];
}

function visibleTo(tenant: Tenant) {
  return { $in: [null, tenant.organizationId] };
}

/** Returns a filter for the own entities that took over one of these registry entities. */
function hidingAny(tenant: Tenant, registryIds: string[]): Filter<EntityDocument> {
  return { organization_id: tenant.organizationId, registry_entity_id: { $in: registryIds } };
}

async function withoutHidden<E extends FoundEntity>(
  collections: Collections,
  tenant: Tenant,
  found: readonly E[],
): Promise<E[]> {
  return withHiding(found, await findHiding(collections, tenant, found));
}

/** Returns the own entities that took over registry entities among these. */
async function findHiding<E extends FoundEntity>(
  collections: Collections,
  tenant: Tenant,
  found: readonly E[],
): Promise<E[]> {
  const registryIds = found.filter((entity) => entity.organization_id === null).map(({ _id }) => _id);
  if (registryIds.length === 0) return [];
  return collections.entities.find<E>(hidingAny(tenant, registryIds)).toArray();
}

type Hideable = Pick<EntityDocument, "_id" | "organization_id" | "identifiers" | "registry_entity_id">;

/**
 * Replaces registry entities by the own ones that took them over, and leaves out those whose UEI an own one carries, as the
 * organization sees its own entity instead. `candidates` includes those that took over one of them.
 */
export function withHiding<E extends Hideable>(found: readonly E[], candidates: readonly E[]): E[] {
  const registryIds = new Set(found.filter((entity) => entity.organization_id === null).map(({ _id }) => _id));
  const hiding = candidates.filter(({ registry_entity_id: id }) => id !== undefined && registryIds.has(id));
  const own = new Map([...found.filter((entity) => entity.organization_id !== null), ...hiding].map((e) => [e._id, e]));
  const hidden = new Set(hiding.map((entity) => entity.registry_entity_id));
  const ownUeis = new Set([...own.values()].map((entity) => entity.identifiers.uei));
  const shown = found.filter(
    ({ _id, organization_id, identifiers }) =>
      organization_id === null && !hidden.has(_id) && !ownUeis.has(identifiers.uei),
  );
  return [...own.values(), ...shown];
}

async function rememberedOf(
  collections: Collections,
  tenant: Tenant,
  entities: readonly FoundEntity[],
): Promise<Map<string, RememberedDocument[]>> {
  const seenAs = new Map<string, string>();
  for (const { _id, registry_entity_id } of entities) {
    seenAs.set(_id, _id);
    // What was remembered of a registry entity also counts for the own one that takes it over.
    if (registry_entity_id) seenAs.set(registry_entity_id, _id);
  }
  const byEntity = new Map<string, RememberedDocument[]>();
  if (seenAs.size === 0) return byEntity;
  const filter = { organization_id: tenant.organizationId, entity_id: { $in: [...seenAs.keys()] } };
  for (const document of await collections.remembered.find(filter).toArray()) {
    const id = seenAs.get(document.entity_id)!;
    byEntity.set(id, [...(byEntity.get(id) ?? []), document]);
  }
  return byEntity;
}
