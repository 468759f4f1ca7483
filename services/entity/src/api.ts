import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { isId } from "@vvs/ids";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { Callers, Handlers } from "@vvs/rpc";
import { type CallerContext, callerOf, type Environment, environmentOf, type Tenant, tenantOf } from "@vvs/tenant";
import { criteriaGiven } from "./lookup/lookup.ts";
import type { createExactLookup } from "./lookup/lookup-exact.ts";
import type { createFuzzyLookup } from "./lookup/lookup-fuzzy.ts";
import { addressOf, criteriaOf, identifiersOf, toProtoCandidate, toProtoSnapshot } from "./messages.ts";
import type { Collections, FoundEntity } from "./model/documents.ts";
import { toProtoEntity } from "./model/view.ts";
import type { SeenEntities } from "./seen-entities.ts";
import type { EntityStore } from "./store.ts";
import type { TinVault } from "./tins/tins.ts";
import type { CheckSubjects } from "./vendors/check-subject.ts";
import type { Creation } from "./vendors/create.ts";
import type { ExternalIds } from "./vendors/external-ids.ts";
import type { createProviderUpdate } from "./vendors/provider-update.ts";
import { findWithdrawn, registryRecords } from "./vendors/registry-record.ts";
import type { RememberedTins } from "./vendors/remembered-tins.ts";
import type { createTinReplacements } from "./vendors/tin-replacements.ts";
import type { createVendorResolver } from "./vendors/vendor.ts";

/** Maximum number of keys or queries in a call. */
const MAX_TOGETHER = 100;
/** Maximum number of TINs in a call. */
const MAX_TINS = 500;

/** The services that may call each RPC. */
export const callers: Callers<typeof EntityService> = {
  lookUp: ["gateway", "dashboard", "verification"],
  createEntity: ["gateway"],
  setExternalId: ["gateway", "dashboard"],
  getEntity: ["gateway", "monitor", "dashboard"],
  listEntities: ["gateway", "dashboard"],
  listSnapshots: ["gateway", "dashboard"],
  resolveVendor: ["verification"],
  getCheckSubjects: ["verification"],
  revealTin: ["verification"],
  sealTins: ["verification"],
  openTins: ["verification"],
  recordTinMatch: ["verification"],
  listTinReplacements: ["dashboard"],
  takeTinReplacements: ["verification"],
  listWithdrawnLoads: ["verification"],
  getRegistryRecords: ["verification"],
  updateFromProvider: ["verification"],
};

export interface EntityServiceOptions {
  readonly store: EntityStore;
  readonly seenBy: SeenEntities;
  readonly collections: Readonly<Record<Environment, Collections>>;
  readonly creation: Creation;
  readonly externalIds: ExternalIds;
  readonly resolveVendor: ReturnType<typeof createVendorResolver>;
  readonly lookUpExactly: ReturnType<typeof createExactLookup>;
  readonly lookUpFuzzily: ReturnType<typeof createFuzzyLookup>;
  readonly tins: Pick<TinVault, "sealForJob" | "openForJob">;
  readonly rememberedTins: RememberedTins;
  readonly tinReplacements: ReturnType<typeof createTinReplacements>;
  readonly checkSubjects: CheckSubjects;
  readonly updateFromProvider: ReturnType<typeof createProviderUpdate>;
  readonly now: () => Date;
}

/** Creates the gRPC handlers, which translate between messages and the domain. */
export function createEntityHandlers(options: EntityServiceOptions): Handlers<typeof EntityService> {
  const { store, seenBy, collections, creation, externalIds, checkSubjects, now } = options;

  const handlers: Handlers<typeof EntityService> = {
    async lookUp(request) {
      const { tenant } = callerOf(request.caller);
      const criteria = criteriaGiven(criteriaOf(request));
      const matches = request.fuzzy
        ? await options.lookUpFuzzily(tenant, criteria)
        : ([await options.lookUpExactly(tenant, criteria)] as const);
      if (matches.length > 1) return { candidates: matches.map((match) => toProtoCandidate(match, request.explain)) };
      const [{ entity, confidence, explanation }] = matches;
      const [seen] = await seenBy(tenant, [entity]);
      return { entity: seen, confidence, explanation: request.explain ? [...explanation] : [] };
    },
    async createEntity(request) {
      const caller = callerOf(request.caller);
      const content = {
        legalName: request.legalName,
        identifiers: identifiersOf(request.identifiers),
        address: request.address && addressOf(request.address),
      };
      const { externalId, idempotency } = request;
      const { value, replayed } = await creation.create(caller, { content, externalId, idempotency });
      const { entity, asAnswered } = value;
      const shown = asAnswered
        ? toProtoEntity(asAnswered.view, entity.created_at, asAnswered.externalId)
        : (await seenBy(caller.tenant, [entity]))[0];
      return { entity: shown, replayed };
    },
    async setExternalId(request) {
      const { tenant, entity } = await visible(store, callerOf(request.caller), request.entityId);
      await externalIds.set(tenant, entity, request.externalId);
      const [seen] = await seenBy(tenant, [entity]);
      return { entity: seen };
    },
    async getEntity(request, { caller }) {
      const { tenant } = callerOf(request.caller);
      const { entityId, takenOver } = request;
      if (!isId("ent", entityId)) throw new ServiceError("entity_not_found");
      const entity = takenOver
        ? (await store.findVisible(tenant, [entityId]))[0]
        : await store.findToShow(tenant, entityId);
      if (!entity) throw new ServiceError("entity_not_found");
      await externalIds.noteMonitorNumber(tenant, entity, request.externalId);
      const [seen] = await seenBy(tenant, [entity]);
      const tinFingerprint = caller === "dashboard" ? await suppliedTin(store, tenant, entity) : undefined;
      return { entity: seen, tinFingerprint };
    },
    async listEntities(request) {
      const { tenant } = callerOf(request.caller);
      const { externalId, page } = request;
      const { items, next } = externalId
        ? await store.listByExternalId(tenant, externalId, page)
        : await store.listOwn(tenant, page);
      return { entities: await seenBy(tenant, items), next };
    },
    async listSnapshots(request) {
      const { tenant, entity } = await visible(store, callerOf(request.caller), request.entityId);
      const { items, next } = await store.listSnapshots(tenant, entity, request.page);
      return { snapshots: items.map(toProtoSnapshot), next };
    },
    async resolveVendor(request) {
      const identifiers = identifiersOf(request.identifiers);
      const { legalName, entityId, checksTin, comparesName } = request;
      if (Object.keys(identifiers).length === 0 && entityId === "") {
        throw new ServiceError("invalid_request", { message: "Give at least one identifier." });
      }
      const vendor = { identifiers, legalName, entityId, checksTin, comparesName };
      return options.resolveVendor(callerOf(request.caller), vendor);
    },
    async getCheckSubjects({ keys }) {
      requireFew(keys);
      const known = keys.map(({ tenant, entityId }) => ({ tenant: tenantOf(tenant), entityId }));
      return { subjects: await checkSubjects.subjects(known) };
    },
    async revealTin(request, { caller }) {
      return { tin: await checkSubjects.revealTin(callerOf(request.caller), request, caller) };
    },
    async sealTins({ tenant, jobId, tins }) {
      requireFew(tins, MAX_TINS);
      const sealed = options.tins.sealForJob(tenantOf(tenant), jobId, tins);
      return { sealed: sealed.map(({ key_id: keyId, box }) => ({ keyId, box: Uint8Array.from(box) })) };
    },
    async openTins({ tenant, jobId, sealed }) {
      requireFew(sealed, MAX_TINS);
      const boxes = sealed.map(({ keyId: key_id, box }) => ({ key_id, box }));
      return { tins: options.tins.openForJob(tenantOf(tenant), jobId, boxes) };
    },
    async recordTinMatch(request) {
      await options.rememberedTins.recordMatch(callerOf(request.caller), request);
      return {};
    },
    async listTinReplacements(request) {
      const { tenant, entity } = await visible(store, callerOf(request.caller), request.entityId);
      return options.tinReplacements.list(tenant, entity, request.page);
    },
    takeTinReplacements: ({ environment, recorded }) =>
      options.tinReplacements.take(environmentOf(environment), recorded),
    async listWithdrawnLoads({ environment }) {
      const withdrawn = await findWithdrawn(collections[environmentOf(environment)]);
      return { loads: withdrawn.map(({ _id }) => _id) };
    },
    async getRegistryRecords({ environment, queries }) {
      if (queries.some(({ uei, cage }) => !uei && !cage)) {
        throw new ServiceError("invalid_request", { message: "Give a UEI or a CAGE." });
      }
      requireFew(queries);
      return { records: await registryRecords(collections[environmentOf(environment)], queries, now()) };
    },
    async updateFromProvider({ caller, entityId, retrievedAt, ...facts }) {
      const at = retrievedAt ? timestampDate(retrievedAt) : now();
      return { changed: await options.updateFromProvider(callerOf(caller), entityId, { ...facts, retrievedAt: at }) };
    },
  };
  return handlers;
}

/** Returns the fingerprint of a TIN that the organization supplied; undefined where it supplied none, or the entity carries one. */
async function suppliedTin(store: EntityStore, tenant: Tenant, entity: FoundEntity): Promise<Uint8Array | undefined> {
  if (entity.tin_last4 !== undefined) return undefined;
  const supplied = (await store.rememberedOf(tenant, [entity])).get(entity._id);
  return supplied?.find(({ type }) => type === "tin")?.fingerprint?.value();
}

function requireFew(asked: readonly unknown[], max = MAX_TOGETHER): void {
  if (asked.length <= max) return;
  throw new ServiceError("invalid_request", { message: `Give at most ${max}.` });
}

/** Errors: entity_not_found, also for an entity that this organization may not see. */
async function visible(store: EntityStore, { tenant }: CallerContext, entityId: string) {
  const [entity] = isId("ent", entityId) ? await store.findVisible(tenant, [entityId]) : [];
  if (entity?._id !== entityId) throw new ServiceError("entity_not_found");
  return { tenant, entity };
}
