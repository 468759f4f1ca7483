import { toJsonString } from "@bufbuild/protobuf";
import { ServiceError } from "@vvs/errors";
import {
  ListVendorsRequestSchema,
  SetVendorArchivedRequestSchema,
  VendorFilter,
  VendorListService,
} from "@vvs/proto/entity/v1/vendors";
import { onlyFor, type ServicePart, servicePart } from "@vvs/rpc";
import { type FakeState, failIfAsked } from "./fake-state.ts";

/** Simulates the lists of vendors: pages of `state.vendors`, which it does not filter except for archived ones. */
export function vendorListPart(state: FakeState): ServicePart {
  const byId = (id: string) => state.vendors.find(({ entity }) => entity?.id === id);
  return servicePart({
    service: VendorListService,
    callers: onlyFor(VendorListService, "dashboard"),
    handlers: {
      async listVendors(request) {
        state.calls.push(`listVendors ${toJsonString(ListVendorsRequestSchema, request)}`);
        failIfAsked(state, "listVendors");
        const isArchive = request.filter === VendorFilter.ARCHIVED;
        const listed = state.vendors.filter(({ archived = false }) => archived === isArchive);
        const { after, limit } = request;
        const from = after ? listed.findIndex(({ entity }) => entity?.id === after.entityId) + 1 : 0;
        const vendors = listed.slice(from, from + limit);
        const last = listed.length > from + limit ? vendors.at(-1)?.entity : undefined;
        return { vendors, next: last && { value: last.legalName!, entityId: last.id! } };
      },
      async countVendors() {
        failIfAsked(state, "countVendors");
        return state.vendorCounts;
      },
      async getVendors({ entityIds }) {
        failIfAsked(state, "getVendors");
        return { vendors: entityIds.flatMap((id) => byId(id) ?? []) };
      },
      async setVendorArchived(request) {
        state.calls.push(`setVendorArchived ${toJsonString(SetVendorArchivedRequestSchema, request)}`);
        failIfAsked(state, "setVendorArchived");
        const vendor = byId(request.entityId);
        if (!vendor) throw new ServiceError("entity_not_found");
        Object.assign(vendor, { archived: request.archived });
        return {};
      },
      async compareNames({ pairs }) {
        failIfAsked(state, "compareNames");
        return { agree: pairs.map(({ one, other }) => one.toLowerCase() === other.toLowerCase()) };
      },
    },
  });
}
