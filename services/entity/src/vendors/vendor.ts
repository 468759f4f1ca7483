import { createBatcher } from "@vvs/batching";
import { ServiceError } from "@vvs/errors";
import type { IdentifierMap, IdentifierType } from "@vvs/identifiers";
import { isId } from "@vvs/ids";
import { inTransaction } from "@vvs/mongo";
import type { CallerContext } from "@vvs/tenant";
import type { ClientSession } from "mongodb";
import { type NamedEntities, nameEntities, pick } from "../lookup/naming.ts";
import type { FoundEntity, PublicIdentifierType, UnversionedEntity } from "../model/documents.ts";
import { replaceEntity, untilUndisturbed } from "../model/entity-writes.ts";
import { guardIdentifiers, withLoadedExclusions } from "../model/exclusions.ts";
import { matchKeysOf } from "../model/match-keys.ts";
import { claimsOf, publicIdentifiers } from "../model/own-entity.ts";
import { ambiguous, DIFFERENT_ENTITIES, SEVERAL_ENTITIES } from "../model/refusals.ts";
import type { SubjectKey } from "../subject-documents.ts";
import type { CheckSubjects } from "./check-subject.ts";
import type { Creation, CreationOptions } from "./create.ts";
import type { ExternalIds } from "./external-ids.ts";
import { refuseLoadedMeanwhile } from "./loaded-meanwhile.ts";
import { nameAgreement } from "./name-agreement.ts";
import type { RememberedTins } from "./remembered-tins.ts";

interface VendorOptions extends CreationOptions {
  readonly creation: Creation;
  readonly externalIds: ExternalIds;
  readonly rememberedTins: RememberedTins;
  readonly checkSubjects: Pick<CheckSubjects, "subjectOf" | "subjects">;
}

/** Maximum number of subjects that one command reads for single calls. */
const MAX_SUBJECTS = 32;

/** A vendor as a verification names it. */
interface Vendor {
  /** Well-formed; at least one, except with an entity id. */
  readonly identifiers: IdentifierMap;
  /** "" where not given. */
  readonly legalName: string;
  /** The entity that is meant; "" for the one that the identifiers name. */
  readonly entityId: string;
  /** The call checks the TIN that it supplies. */
  readonly checksTin: boolean;
  /** The call asks whether the name agrees with the registry's. */
  readonly comparesName: boolean;
}

/**
 * Returns a function that finds the entity that identifiers name, or creates it. It returns the subject of checks too, the
 * fingerprint of the supplied TIN (empty without one), and where it is asked whether the name agrees (name-agreement.ts). Identifiers that the entity does not carry are added to an own entity
 * (with a snapshot), and remembered for a registry entity; which TIN is, is up to remembered-tins.ts. Errors:
 * ambiguous_match, entity_exists (an identifier contradicts the entity's, or names another than the given one),
 * entity_not_found (the given one), limit_exceeded, invalid_request (the TIN is the organization's own number of the entity).
 */
export function createVendorResolver(options: VendorOptions) {
  const { store, tins, creation, rememberedTins, checkSubjects } = options;
  const rememberedBy = async ({ tenant }: CallerContext, entity: FoundEntity) =>
    (await store.rememberedOf(tenant, [entity])).get(entity._id) ?? [];
  const readSubject = createBatcher({
    run: (keys: readonly SubjectKey[]) => checkSubjects.subjects(keys),
    maxSize: MAX_SUBJECTS,
    atOnce: 1,
  });

  /** Returns the entity of an id. Identifiers that other entities carry, and it does not, are refused. */
  async function given({ tenant }: CallerContext, entityId: string, named: NamedEntities): Promise<FoundEntity> {
    const [entity] = isId("ent", entityId) ? await store.findVisible(tenant, [entityId]) : [];
    if (entity?._id !== entityId) throw new ServiceError("entity_not_found");
    const agreed = named.agreementsOf(entity);
    const other = named.carriers.find((each) => named.agreementsOf(each).some((type) => !agreed.includes(type)));
    if (!other) return entity;
    const message = "An identifier is that of another entity.";
    throw new ServiceError("entity_exists", { entityId: other._id, message });
  }

  /** Adds or remembers the identifiers that an entity lacks, and its first name. */
  async function supplement(
    caller: CallerContext,
    entity: FoundEntity,
    { identifiers, legalName, checksTin }: Pick<Vendor, "identifiers" | "legalName" | "checksTin">,
  ): Promise<void> {
    if (entity.organization_id === null) return remember(options, caller, entity, { identifiers, checksTin });
    const { tin, ...others } = identifiers;
    const known = tin && entity.registry_entity_id ? await rememberedBy(caller, entity) : [];
    // What is remembered of the registry entity that it took over goes by the same rules as before.
    const isRemembered = tin !== undefined && known.some(({ type }) => type === "tin");
    if (isRemembered) await rememberedTins.supply(caller, entity, { tin, isChecked: checksTin, known });
    await complementOwn(options, caller, entity, { identifiers: isRemembered ? others : identifiers, legalName });
  }

  const resolve = (caller: CallerContext, vendor: Vendor) =>
    untilUndisturbed(async () => {
      const named = await nameEntities({ store, tins }, caller.tenant, vendor.identifiers);
      const entity = vendor.entityId ? await given(caller, vendor.entityId, named) : namedBy(named);
      if (!entity) {
        const { identifiers } = vendor;
        const content = { legalName: vendor.legalName || undefined, identifiers, address: undefined };
        return { entity: await creation.insert(caller, content), created: true, isChanged: true };
      }
      const contradicting = named.contradictionsOf(entity);
      if (contradicting.length > 0) throw contradicted(entity, contradicting);
      const identifiers = pick(vendor.identifiers, named.missingFrom(entity));
      const isChanged = Object.keys(identifiers).length > 0 || (entity.placeholder && vendor.legalName !== "");
      if (isChanged) await supplement(caller, entity, { ...vendor, identifiers });
      return { entity, created: false, isChanged };
    });

  /** Resolves a vendor, and returns the subject as it is then. */
  async function resolveSubject(caller: CallerContext, vendor: Vendor) {
    const { entity, created, isChanged } = await resolve(caller, vendor);
    const { tenant } = caller;
    const entityId = entity._id;
    const subject = isChanged
      ? await readSubject({ tenant, entityId })
      : await checkSubjects.subjectOf(tenant, { entity, remembered: await rememberedBy(caller, entity) });
    const nameAgrees = vendor.comparesName
      ? await nameAgreement(options.collections[tenant.environment], entity, vendor.legalName)
      : undefined;
    return { entityId, created, subject, nameAgrees };
  }

  return async (caller: CallerContext, vendor: Vendor) => {
    const { tin } = vendor.identifiers;
    const [resolved, fingerprint] = await Promise.all([
      resolveSubject(caller, vendor),
      tin ? tins.fingerprint(caller.tenant, tin) : undefined,
    ]);
    return { ...resolved, tinHash: fingerprint?.value() ?? new Uint8Array() };
  };
}

/** Returns the entity that identifiers name; undefined where they name none. */
function namedBy({ resolution, entities }: NamedEntities): FoundEntity | undefined {
  if (resolution.kind === "ambiguous") throw ambiguous(entities, DIFFERENT_ENTITIES);
  if (entities.length > 1) throw ambiguous(entities, SEVERAL_ENTITIES);
  return entities[0];
}

function contradicted(entity: FoundEntity, types: readonly IdentifierType[]): ServiceError {
  const listed = types.map((type) => type.toUpperCase()).join(", ");
  return new ServiceError("entity_exists", {
    entityId: entity._id,
    message: `The entity that the identifiers name has another ${listed}. Correct it or leave it out.`,
  });
}

/** Adds identifiers to an own entity, and replaces a placeholder by the name; writes nothing if neither is new. */
async function complementOwn(
  { client, collections, tins, externalIds, now }: VendorOptions,
  caller: CallerContext,
  entity: FoundEntity,
  { identifiers, legalName }: Pick<Vendor, "identifiers" | "legalName">,
): Promise<void> {
  const takesName = entity.placeholder && legalName !== "";
  if (!takesName && Object.keys(identifiers).length === 0) return;
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
  const write = async (session: ClientSession): Promise<void> => {
    if (sealed) {
      const tin = { organization_id: tenant.organizationId, ...sealed };
      await written.carriedTins.insertOne({ _id: entity._id, ...tin }, { session });
    }
    const excluded = await withLoadedExclusions(written, session, next, at);
    await refuseLoadedMeanwhile(written, session, tenant.organizationId, publicIdentifiers(identifiers));
    const change = { previous: entity, entity: excluded, author: caller, now: at };
    await replaceEntity(written, session, change);
  };
  const { tin } = identifiers;
  await (tin ? externalIds.whileNotNumber(tenant, entity, tin, write) : inTransaction(client, write));
}

/** Remembers identifiers of a registry entity for this organization only; a new value replaces the one before. */
async function remember(
  { collections, store, rememberedTins }: VendorOptions,
  caller: CallerContext,
  entity: FoundEntity,
  { identifiers: { tin, ...others }, checksTin }: Pick<Vendor, "identifiers" | "checksTin">,
): Promise<void> {
  const { tenant } = caller;
  const given = Object.entries(others) as [PublicIdentifierType, string][];
  if (tin === undefined && given.length === 0) return;
  const known = (await store.rememberedOf(tenant, [entity])).get(entity._id) ?? [];
  for (const [type, value] of given) {
    if (known.some((one) => one.type === type && one.value === value)) continue;
    const _id = `${tenant.organizationId}/${entity._id}/${type}`;
    await collections[tenant.environment].remembered.updateOne(
      { _id, organization_id: tenant.organizationId },
      { $set: { entity_id: entity._id, type, value } },
      { upsert: true },
    );
  }
  if (tin) await rememberedTins.supply(caller, entity, { tin, isChecked: checksTin, known });
}
