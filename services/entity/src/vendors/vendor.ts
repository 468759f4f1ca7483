import { ServiceError } from "@vvs/errors";
import type { IdentifierMap, IdentifierType } from "@vvs/identifiers";
import { inTransaction } from "@vvs/mongo";
import type { CallerContext, Environment } from "@vvs/tenant";
import type { Binary, MongoClient } from "mongodb";
import { nameEntities } from "../lookup/naming.ts";
import type { Collections, EntityDocument, RememberedDocument } from "../model/documents.ts";
import { replaceEntity, untilUndisturbed } from "../model/entity-writes.ts";
import { guardIdentifiers, withLoadedExclusions } from "../model/exclusions.ts";
import { matchKeysOf } from "../model/match-keys.ts";
import { claimsOf, publicIdentifiers } from "../model/own-entity.ts";
import { ambiguous, DIFFERENT_ENTITIES, SEVERAL_ENTITIES } from "../model/refusals.ts";
import type { UnversionedEntity } from "../model/snapshots.ts";
import type { EntityStore } from "../store.ts";
import type { TinVault } from "../tins/tins.ts";
import type { Creation } from "./create.ts";
import { refuseLoadedMeanwhile } from "./loaded-meanwhile.ts";

export interface VendorOptions {
  readonly client: MongoClient;
  readonly collections: Readonly<Record<Environment, Collections>>;
  readonly store: EntityStore;
  readonly tins: TinVault;
  readonly creation: Creation;
  readonly now: () => Date;
}

/** What a verification says of a vendor. */
interface Vendor {
  /** Well-formed; at least one. */
  readonly identifiers: IdentifierMap;
  /** "" where not given. */
  readonly legalName: string;
}

/** The entity that identifiers name. */
interface Resolved {
  readonly entity: EntityDocument;
  readonly created: boolean;
}

/**
 * The entity that identifiers name, made where none is, and the fingerprint of the TIN supplied (empty without one). What
 * is supplied beyond what it carries is added to an own entity (with a snapshot), and remembered of a registry entity.
 * Errors: ambiguous_match, entity_exists (an identifier contradicts what the named entity carries), limit_exceeded.
 */
export function createVendorResolver(options: VendorOptions) {
  const { store, tins, creation } = options;

  const resolve = (caller: CallerContext, vendor: Vendor): Promise<Resolved> =>
    untilUndisturbed(async () => {
      const named = await nameEntities({ store, tins }, caller.tenant, vendor.identifiers);
      const { resolution, entities } = named;
      if (resolution.kind === "none") {
        const content = {
          legalName: vendor.legalName || undefined,
          identifiers: vendor.identifiers,
          address: undefined,
        };
        return { entity: await creation.insert(caller, content), created: true };
      }
      if (resolution.kind === "ambiguous") throw ambiguous(entities, DIFFERENT_ENTITIES);
      if (entities.length > 1) throw ambiguous(entities, SEVERAL_ENTITIES);
      const entity = entities[0]!;
      const contradicting = named.contradictionsOf(entity);
      if (contradicting.length > 0) throw contradicted(entity, contradicting);
      const missing = pick(vendor.identifiers, named.missingFrom(entity));
      const isOwn = entity.organization_id !== null;
      const complemented = isOwn
        ? await complementOwn(options, caller, entity, { identifiers: missing, legalName: vendor.legalName })
        : await remember(options, caller, entity, missing);
      return { entity: complemented, created: false };
    });

  return async (caller: CallerContext, vendor: Vendor): Promise<Resolved & { tinHash: Uint8Array }> => {
    const { tin } = vendor.identifiers;
    const [resolved, fingerprint] = await Promise.all([
      resolve(caller, vendor),
      tin ? tins.fingerprint(caller.tenant, tin) : undefined,
    ]);
    return { ...resolved, tinHash: fingerprint?.value() ?? new Uint8Array() };
  };
}

function contradicted(entity: EntityDocument, types: readonly IdentifierType[]): ServiceError {
  const listed = types.map((type) => type.toUpperCase()).join(", ");
  return new ServiceError("entity_exists", {
    entityId: entity._id,
    message: `The entity that the identifiers name has another ${listed}.`,
  });
}

/** Adds identifiers to an own entity and gives a placeholder its name; nothing, and no snapshot, where neither is new. */
async function complementOwn(
  { client, collections, tins, now }: VendorOptions,
  caller: CallerContext,
  entity: EntityDocument,
  { identifiers, legalName }: Vendor,
): Promise<EntityDocument> {
  const takesName = entity.placeholder && legalName !== "";
  if (!takesName && Object.keys(identifiers).length === 0) return entity;
  const { tenant } = caller;
  const at = now();
  const known = { ...entity.identifiers, ...publicIdentifiers(identifiers) };
  const name = takesName ? { legal_name: legalName, placeholder: false } : {};
  const next: UnversionedEntity = {
    ...entity,
    ...name,
    ...matchKeysOf({ ...entity, ...name }),
    identifiers: known,
    claims: claimsOf(known),
    tin_last4: identifiers.tin?.slice(-4) ?? entity.tin_last4,
  };
  const home = { collection: "entity_identifiers", id: entity._id } as const;
  const sealed = identifiers.tin && (await tins.seal(tenant, home, identifiers.tin));
  const written = collections[tenant.environment];
  await guardIdentifiers(written, undefined, [identifiers]);
  return inTransaction(client, async (session) => {
    if (sealed) {
      const tin = { organization_id: tenant.organizationId, ...sealed };
      await written.carriedTins.insertOne({ _id: entity._id, ...tin }, { session });
    }
    const excluded = await withLoadedExclusions(written, session, next, at);
    await refuseLoadedMeanwhile(written, session, tenant.organizationId, publicIdentifiers(identifiers));
    const change = { previous: entity, entity: excluded, author: caller, now: at };
    return replaceEntity(written, session, change);
  });
}

/** Remembers identifiers of a registry entity for this organization alone; another value replaces the one before. */
async function remember(
  { collections, store, tins }: VendorOptions,
  { tenant }: CallerContext,
  entity: EntityDocument,
  identifiers: IdentifierMap,
): Promise<EntityDocument> {
  const given = Object.entries(identifiers) as [IdentifierType, string][];
  const before = given.length > 0 ? (await store.rememberedOf(tenant, [entity])).get(entity._id) : undefined;
  for (const [type, value] of given) {
    const known = before?.find((one) => one.type === type);
    if (known && isRemembered(known, value, type === "tin" ? tins.hashes(tenant, value) : [])) continue;
    const id = `${tenant.organizationId}/${entity._id}/${type}`;
    const kept: Partial<RememberedDocument> =
      type === "tin" ? await tins.seal(tenant, { collection: "remembered_identifiers", id }, value) : { value };
    await collections[tenant.environment].remembered.updateOne(
      { _id: id, organization_id: tenant.organizationId },
      { $set: { entity_id: entity._id, type, ...kept } },
      { upsert: true },
    );
  }
  return entity;
}

function isRemembered(known: RememberedDocument, value: string, tinHashes: readonly Binary[]): boolean {
  if (known.type !== "tin") return known.value === value;
  return tinHashes.some((hash) => known.hash !== undefined && hash.toString("hex") === known.hash.toString("hex"));
}

function pick(identifiers: IdentifierMap, types: readonly IdentifierType[]): IdentifierMap {
  return Object.fromEntries(types.map((type) => [type, identifiers[type]]));
}
