import { ServiceError } from "@vvs/errors";
import { outside } from "@vvs/fair-queue";
import { possibleTins } from "@vvs/identifiers/possible-tins";
import { inTransaction } from "@vvs/mongo";
import type { Environment, Tenant } from "@vvs/tenant";
import type { ClientSession, MongoClient } from "mongodb";
import type { Collections, EntityDocument, ExternalIdDocument, RememberedDocument } from "../model/documents.ts";
import { writeGuards } from "../model/exclusions.ts";
import { externalIdKey } from "../store.ts";
import type { TinVault } from "../tins/tins.ts";

/** Maximum number of monitors' numbers with nine digits that are noted of an entity. */
const MAX_MONITOR_NUMBERS = 2_000;

/** What is needed of an entity to store the organization's own number of it. */
type Numbered = Pick<EntityDocument, "_id" | "created_at" | "registry_entity_id">;

export type ExternalIds = ReturnType<typeof createExternalIds>;

/**
 * Stores the numbers that organizations give entities (`external_id`). They are shown and sent as they are, so no entity
 * has its own TIN as its number.
 */
export function createExternalIds(options: {
  client: MongoClient;
  collections: Readonly<Record<Environment, Collections>>;
  tins: TinVault;
}) {
  const { client, tins } = options;
  const collectionsOf = (tenant: Tenant) => options.collections[tenant.environment];
  /** The end of the last call of each key that has begun or waits. */
  const ends = new Map<string, Promise<void>>();
  const remove = async (tenant: Tenant, entityIds: readonly string[], session: ClientSession) => {
    const keys = entityIds.map((id) => externalIdKey(tenant, id));
    const filter = { _id: { $in: keys }, organization_id: tenant.organizationId };
    await collectionsOf(tenant).remembered.deleteMany(filter, { session });
  };

  /** Errors: invalid_request if the number contains a TIN that the entity carries or that the organization supplied for it. */
  async function refuseStoredTin(tenant: Tenant, entity: Numbered, externalId: string, session?: ClientSession) {
    const hash = { $in: possibleTins(externalId).flatMap((tin) => tins.hashes(tenant, tin)) };
    if (hash.$in.length === 0) return;
    const { carriedTins, remembered } = collectionsOf(tenant);
    const own = { organization_id: tenant.organizationId, hash };
    const carried = await carriedTins.findOne({ ...own, _id: entity._id }, { session });
    const ofEntity = { ...own, type: "tin" as const, entity_id: { $in: idsOf(entity) } };
    if (carried || (await remembered.findOne(ofEntity, { session }))) throw numberIsTin();
  }

  /** Runs work in a transaction that conflicts with others that set the number of the entity or store a TIN of it. */
  async function guarded<T>(
    tenant: Tenant,
    { _id }: Numbered,
    work: (session: ClientSession) => Promise<T>,
  ): Promise<T> {
    const guards = [`external_id:${tenant.organizationId}/${_id}`];
    return inTurn(`${tenant.environment}/${guards}`, async () => {
      await writeGuards(collectionsOf(tenant), undefined, guards);
      return inTransaction(client, async (session) => {
        await writeGuards(collectionsOf(tenant), session, guards);
        return work(session);
      });
    });
  }

  /**
   * Calls `work` after the calls of this process with the same key have ended: eight that conflicted began again so often that some
   * were refused. Meanwhile a call gives its seat back.
   */
  async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = ends.get(key);
    const { promise: end, resolve } = Promise.withResolvers<void>();
    ends.set(key, end);
    try {
      if (before) await outside(() => before);
      return await work();
    } finally {
      resolve();
      if (ends.get(key) === end) ends.delete(key);
    }
  }

  /** Stores the number of a new entity, in the transaction that creates it. */
  async function insert(
    session: ClientSession,
    tenant: Tenant,
    { _id, created_at }: Numbered,
    externalId: string,
  ): Promise<void> {
    const numbered: ExternalIdDocument = {
      _id: externalIdKey(tenant, _id),
      organization_id: tenant.organizationId,
      entity_id: _id,
      type: "external_id",
      external_id: externalId,
      created_at,
    };
    await collectionsOf(tenant).remembered.insertOne(numbered, { session });
  }

  return {
    insert,
    /**
     * Notes the number of a monitor of an entity, which is shown and sent as well, so that the entity never gets it as its
     * TIN. Errors: invalid_request if it is the entity's TIN.
     */
    async noteMonitorNumber(tenant: Tenant, entity: Numbered, externalId: string): Promise<void> {
      if (possibleTins(externalId).length === 0) return;
      const { remembered } = collectionsOf(tenant);
      await guarded(tenant, entity, async (session) => {
        await refuseStoredTin(tenant, entity, externalId, session);
        const noted = await remembered.findOneAndUpdate(
          { _id: monitorNumbersKey(tenant, entity._id), organization_id: tenant.organizationId },
          {
            $set: { entity_id: entity._id, type: "monitor_numbers" },
            $addToSet: { monitor_numbers: externalId },
          },
          { session, upsert: true, returnDocument: "after" },
        );
        if (noted!.monitor_numbers!.length > MAX_MONITOR_NUMBERS) throw tooManyNumbers();
      });
    },
    /**
     * Sets the number of an entity, or removes it ("" removes). `alongside` writes in the same transaction. Errors:
     * invalid_request if it is the entity's TIN.
     */
    async set(
      tenant: Tenant,
      entity: Numbered,
      externalId: string,
      alongside?: (session: ClientSession) => Promise<void>,
    ): Promise<void> {
      await guarded(tenant, entity, async (session) => {
        await refuseStoredTin(tenant, entity, externalId, session);
        await remove(tenant, idsOf(entity), session);
        if (externalId !== "") await insert(session, tenant, entity, externalId);
        await alongside?.(session);
      });
    },
    /**
     * Calls `write`, which stores a TIN of the entity, in a transaction that excludes that the number is set meanwhile.
     * Errors: invalid_request if the TIN is the entity's number.
     */
    async whileNotNumber<T>(
      tenant: Tenant,
      entity: Numbered,
      tin: string,
      write: (session: ClientSession) => Promise<T>,
    ): Promise<T> {
      const { remembered } = collectionsOf(tenant);
      return guarded(tenant, entity, async (session) => {
        const keys = idsOf(entity).flatMap((id) => [externalIdKey(tenant, id), monitorNumbersKey(tenant, id)]);
        const filter = { _id: { $in: keys }, organization_id: tenant.organizationId };
        const numbers = await remembered.find(filter, { session }).toArray();
        refuseTinAsNumber(numbers, tin);
        return write(session);
      });
    },
  };
}

/** Errors: invalid_request if a number contains the TIN that is supplied with it. */
export function refuseSuppliedTin(externalId: string, tin: string | undefined): void {
  if (tin && possibleTins(externalId).includes(tin)) throw numberIsTin();
}

/** Errors: invalid_request if one of the numbers that the organization gave an entity or its monitors contains the TIN. */
export function refuseTinAsNumber(
  supplied: readonly Pick<RememberedDocument, "external_id" | "monitor_numbers">[],
  tin: string,
): void {
  const numbers = supplied.flatMap(({ external_id = "", monitor_numbers = [] }) => [external_id, ...monitor_numbers]);
  if (numbers.some((number) => possibleTins(number).includes(tin))) throw tinIsNumber();
}

/** What was supplied for a registry entity also counts for the own one that takes it over. */
function idsOf({ _id, registry_entity_id }: Numbered): string[] {
  return registry_entity_id ? [_id, registry_entity_id] : [_id];
}

function monitorNumbersKey({ organizationId }: Tenant, entityId: string): string {
  return `${organizationId}/${entityId}/monitor_numbers`;
}

function tooManyNumbers(): ServiceError {
  const message = `must not have nine digits in a row: monitors of this entity had ${MAX_MONITOR_NUMBERS} such numbers`;
  return new ServiceError("invalid_request", { details: [{ path: "external_id", message }] });
}

function numberIsTin(): ServiceError {
  const message = "must not be the vendor's taxpayer identification number: it is shown and sent in clear";
  return new ServiceError("invalid_request", { details: [{ path: "external_id", message }] });
}

function tinIsNumber(): ServiceError {
  const message = "is also the external_id of this entity or of a monitor of it, which is shown and sent in clear";
  return new ServiceError("invalid_request", { details: [{ path: "identifiers.tin", message }] });
}
