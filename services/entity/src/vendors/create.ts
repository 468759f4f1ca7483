import { ServiceError } from "@vvs/errors";
import type { IdempotencyStore, Outcome } from "@vvs/idempotency";
import { newId } from "@vvs/ids";
import { createCap, inTransaction } from "@vvs/mongo";
import type { Idempotency } from "@vvs/proto/common/v1/common";
import { type CallerContext, type Environment, perEnvironment } from "@vvs/tenant";
import type { ClientSession, MongoClient } from "mongodb";
import { nameEntities } from "../lookup/naming.ts";
import type { Collections, EntityDocument, PublicEntity, UnversionedEntity } from "../model/documents.ts";
import { insertEntity, untilUndisturbed } from "../model/entity-writes.ts";
import { guardIdentifiers, withLoadedExclusions } from "../model/exclusions.ts";
import { type ContentHash, contentText, newOwnEntity, type OwnContent } from "../model/own-entity.ts";
import type { EntityStore } from "../store.ts";
import type { TinVault } from "../tins/tins.ts";
import { newVendor } from "../vendor-list/listed-vendor.ts";
import { type ExternalIds, refuseSuppliedTin } from "./external-ids.ts";
import { refuseLoadedMeanwhile } from "./loaded-meanwhile.ts";

/** What operations that write entities need. */
export interface CreationOptions {
  readonly client: MongoClient;
  readonly collections: Readonly<Record<Environment, Collections>>;
  readonly store: EntityStore;
  readonly tins: TinVault;
  readonly now: () => Date;
}

interface Created {
  readonly entity: EntityDocument;
  /** The first answer, if this one repeats it: the entity and its number may have changed since. */
  readonly asAnswered?: { readonly view: PublicEntity; readonly externalId: string };
}

/** A creation as a client asks for it. */
interface WantedEntity {
  readonly content: OwnContent;
  /** The organization's own number of the entity; "" where not given. Not part of the content. */
  readonly externalId: string;
  readonly idempotency: Idempotency | undefined;
}

export type Creation = ReturnType<typeof createCreation>;

export function createCreation(
  options: CreationOptions & {
    idempotency: Readonly<Record<Environment, IdempotencyStore>>;
    externalIds: ExternalIds;
    /** Maximum number of entities that one organization can create in the sandbox. */
    sandboxEntityCap: number;
  },
) {
  const { client, store, tins, externalIds, now } = options;
  const withinCap = entityCap(options, options.sandboxEntityCap);
  const write = async (
    caller: CallerContext,
    content: OwnContent,
    contentHash?: ContentHash,
    alongside?: (session: ClientSession, entity: UnversionedEntity) => Promise<void>,
  ): Promise<EntityDocument> => {
    const { tenant } = caller;
    const collections = options.collections[tenant.environment];
    const at = now();
    const id = newId("ent", at);
    const bare = newOwnEntity(tenant, { id, content, contentHash, now: at });
    const { tin } = content.identifiers;
    const sealed = tin && (await tins.seal(tenant, { collection: "entity_identifiers", id }, tin));
    await guardIdentifiers(collections, undefined, [bare.identifiers]);
    return inTransaction(client, async (session) => {
      if (sealed) {
        await collections.carriedTins.insertOne(
          { _id: id, organization_id: tenant.organizationId, ...sealed },
          { session },
        );
      }
      await alongside?.(session, bare);
      const entity = await withLoadedExclusions(collections, session, bare, at);
      await refuseLoadedMeanwhile(collections, session, tenant.organizationId, bare.identifiers);
      await collections.vendors.insertOne(newVendor(tenant, id, entity.legal_name), { session });
      return insertEntity(collections, session, { entity, author: caller, now: at });
    });
  };
  const insert = (...[caller, ...entity]: Parameters<typeof write>) =>
    withinCap(caller, () => write(caller, ...entity));
  return {
    /**
     * Writes a new entity with its first snapshot. Errors: limit_exceeded; a duplicate key or StaleEntityError if another
     * call or a load was first.
     */
    insert,
    /**
     * Creates an entity, or returns the one that the same content created before; either gets the number that is given.
     * Errors: entity_exists if a visible entity carries one of the identifiers, limit_exceeded, invalid_request if the
     * number is the entity's TIN.
     */
    create: async (caller: CallerContext, wanted: WantedEntity): Promise<Outcome<Created>> => {
      const { tenant } = caller;
      const { content, externalId } = wanted;
      refuseSuppliedTin(externalId, content.identifiers.tin);
      const idempotency = options.idempotency[tenant.environment];
      return idempotency.once({
        tenant,
        idempotency: wanted.idempotency,
        replay: async (answerId) => {
          const answer = readAnswerId(answerId);
          const [entity] = await store.findVisible(tenant, [answer.entityId]);
          const view = await store.viewAt(tenant, answer.entityId, answer.version);
          if (!entity || !view) throw new ServiceError("entity_not_found");
          return { entity, asAnswered: { view, externalId: answer.externalId } };
        },
        run: (key) =>
          untilUndisturbed(async () => {
            const { carriers } = await nameEntities({ store, tins }, tenant, content.identifiers);
            const [carrier] = carriers;
            // Looked up last, so that it also finds a carrier that the same content has created meanwhile.
            const hashes = tins.contentHashes(tenant, contentText(content));
            const same = await store.findByContent(tenant, hashes);
            if (same) {
              const shown = externalId || (await store.externalIdOf(tenant, same));
              const finish = (session: ClientSession) =>
                idempotency.complete(session, [{ key, resourceId: answerIdOf(same, shown) }]);
              await (externalId ? externalIds.set(tenant, same, externalId, finish) : inTransaction(client, finish));
              return { entity: same };
            }
            if (carrier) throw new ServiceError("entity_exists", { entityId: carrier._id });
            const contentHash = { content_hash: hashes, content_hash_key_id: tins.newest.hashKeyId };
            const alongside = async (session: ClientSession, entity: UnversionedEntity) => {
              if (externalId) await externalIds.insert(session, tenant, entity, externalId);
              const resourceId = answerIdOf({ _id: entity._id, version: 1 }, externalId);
              await idempotency.complete(session, [{ key, resourceId }]);
            };
            return { entity: await insert(caller, content, contentHash, alongside) };
          }),
      });
    },
  };
}

/**
 * Reserves a place for each creation. In live the organization's plan limits it; without a limit, as from a caller of an
 * older version, creations are counted but not refused.
 */
function entityCap({ collections, store }: CreationOptions, sandboxLimit: number) {
  const caps = perEnvironment((environment) =>
    createCap({
      counters: collections[environment].createdCounts,
      count: (organizationId) => store.countOwn({ organizationId, environment }),
    }),
  );
  return <T>({ tenant, createdEntities }: CallerContext, create: () => Promise<T>): Promise<T> => {
    const { organizationId, environment } = tenant;
    const limit = environment === "sandbox" ? sandboxLimit : (createdEntities ?? Number.MAX_SAFE_INTEGER);
    const where = environment === "sandbox" ? "in the sandbox" : "with its plan";
    const message = `An organization can create ${limit} entities ${where}; this one has reached that.`;
    const refusal = () => new ServiceError("limit_exceeded", { message });
    return caps[environment].within(organizationId, { limit, refusal }, create);
  };
}

/** Returns the stored answer of an idempotent creation: an entity, the version and the number that were shown. */
function answerIdOf({ _id, version }: Pick<EntityDocument, "_id" | "version">, externalId: string): string {
  return `${_id}@${version}@${externalId}`;
}

/** Reads a stored answer. Those of older versions have no number. */
function readAnswerId(answerId: string): { entityId: string; version: number; externalId: string } {
  const [entityId = "", version, ...number] = answerId.split("@");
  return { entityId, version: Number(version), externalId: number.join("@") };
}
