import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { checkNames, toCheckType, toProtoStatus } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import { VendorFilter, VendorListService, VendorOrder } from "@vvs/proto/entity/v1/vendors";
import { type Handlers, type ServicePart, servicePart } from "@vvs/rpc";
import { callerOf, type Tenant } from "@vvs/tenant";
import { isSameName } from "../matching/names/same-name.ts";
import type { FoundEntity } from "../model/documents.ts";
import type { ListedResult, ListedVendorDocument } from "../model/listed-vendor.ts";
import type { SeenEntities } from "../seen-entities.ts";
import type { EntityStore } from "../store.ts";
import { isAboutOther, NEVER, noteArchived, UNKNOWN_EXPIRY } from "./listed-vendor.ts";
import { invalidField, placeOf, positionOf, vendorQueryOf } from "./vendor-query.ts";
import type { VendorStore } from "./vendor-store.ts";

const MAX_PAGE = 100;
const MAX_IDS = 100;
const MAX_PAIRS = 200;
/** Maximum number that a count returns. */
const MAX_COUNT = 1_000;
/** Creates the gRPC service of the lists of vendors. */
export function createVendorListPart(options: {
  store: Pick<EntityStore, "findVisible">;
  vendors: Pick<VendorStore, "list" | "count" | "find" | "update">;
  seenBy: SeenEntities;
  now: () => Date;
}): ServicePart {
  const { vendors, now } = options;
  const toMessages = createToMessages(options);

  const handlers: Handlers<typeof VendorListService> = {
    async listVendors(request) {
      const { tenant } = callerOf(request.caller);
      const { limit } = request;
      if (limit < 1 || limit > MAX_PAGE) throw invalidField("limit", `must be 1–${MAX_PAGE}`);
      const query = vendorQueryOf(request, now());
      const after = request.after && placeOf(request.after, query);
      const found = await vendors.list(tenant, query, { limit: limit + 1, after });
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return { vendors: await toMessages(tenant, page), next: last && positionOf(last, query) };
    },
    async countVendors(request) {
      const { tenant } = callerOf(request.caller);
      const at = now();
      const count = (filter: VendorFilter, days = 0) =>
        vendors.count(tenant, vendorQueryOf({ filter, days, order: VendorOrder.UNSPECIFIED }, at), MAX_COUNT);
      const [failed, excluded, error, expiring30, registrationEnded] = await Promise.all([
        count(VendorFilter.FAILED),
        count(VendorFilter.EXCLUDED),
        count(VendorFilter.ERROR),
        count(VendorFilter.EXPIRING, 30),
        count(VendorFilter.EXPIRED),
      ]);
      return { failed, excluded, error, expiring30, registrationEnded };
    },
    async getVendors(request) {
      const { tenant } = callerOf(request.caller);
      if (request.entityIds.length > MAX_IDS) throw invalidField("entity_ids", `must be at most ${MAX_IDS}`);
      return { vendors: await toMessages(tenant, await vendors.find(tenant, request.entityIds)) };
    },
    async setVendorArchived(request) {
      const { tenant, actor } = callerOf(request.caller);
      const change = noteArchived(request.archived ? { at: now(), by: actor } : undefined);
      const isListed = await vendors.update(tenant.environment, [{ tenant, entityId: request.entityId, change }]);
      if (!isListed) throw new ServiceError("entity_not_found");
      return {};
    },
    async compareNames({ pairs }) {
      if (pairs.length > MAX_PAIRS) throw invalidField("pairs", `must be at most ${MAX_PAIRS}`);
      return { agree: pairs.map(({ one, other }) => isSameName(one, other)) };
    },
  };
  return servicePart({
    service: VendorListService,
    handlers,
    callers: {
      listVendors: ["dashboard"],
      countVendors: ["dashboard"],
      getVendors: ["dashboard"],
      setVendorArchived: ["dashboard"],
      compareNames: ["dashboard"],
    },
  });
}

/** Creates a function that returns vendors with their entities; without those whose entity the organization can't see. */
function createToMessages({ store, seenBy }: { store: Pick<EntityStore, "findVisible">; seenBy: SeenEntities }) {
  return async (tenant: Tenant, listed: readonly ListedVendorDocument[]) => {
    const found = await store.findVisible(
      tenant,
      listed.map(({ entity_id }) => entity_id),
    );
    const byId = new Map<string, FoundEntity>(found.map((entity) => [entity._id, entity]));
    // An own entity that took over a registry entity is shown in its place.
    for (const entity of found) if (entity.registry_entity_id) byId.set(entity.registry_entity_id, entity);
    const shown = listed.flatMap((vendor) => {
      const entity = byId.get(vendor.entity_id);
      return entity ? [{ vendor, entity }] : [];
    });
    const seen = await seenBy(
      tenant,
      shown.map(({ entity }) => entity),
    );
    return shown.map(({ vendor }, index) => ({ entity: seen[index], ...toMessage(vendor) }));
  };
}

function toMessage(vendor: ListedVendorDocument) {
  const { checks, checked_at, expires_on, excluded, monitors, archived } = vendor;
  return {
    checks: checkNames.flatMap((check) => {
      const results = checks[check];
      if (!results) return [];
      const { newest, answered } = results;
      const lastAnswered = answered && toResult(vendor, answered);
      return [{ checkType: toCheckType(check), ...toResult(vendor, newest), lastAnswered }];
    }),
    expirationDate: expires_on === UNKNOWN_EXPIRY ? "" : expires_on,
    excluded,
    activeMonitors: monitors,
    lastCheckedAt: checked_at > NEVER ? timestampFromDate(checked_at) : undefined,
    archived: archived !== undefined,
  };
}

function toResult(vendor: ListedVendorDocument, result: ListedResult) {
  const { status, reason, at, made_at, verification_id: verificationId, tin, name, effect: exclusionEffect } = result;
  const { same_name: sameName } = result;
  const made = { status: toProtoStatus(status), reason, checkedAt: timestampFromDate(made_at ?? at), verificationId };
  return { ...made, tin, name, exclusionEffect, sameName, aboutOther: isAboutOther(vendor, result) };
}
