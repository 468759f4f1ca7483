import { ServiceError } from "@vvs/errors";
import { VendorFilter, VendorListService } from "@vvs/proto/entity/v1/vendors";
import { fakePart } from "./fake-part.ts";
import type { FakeState } from "./fake-state.ts";

/** Simulates the lists of vendors: pages of `state.vendors`, which it does not filter except for archived ones. */
export function vendorListPart(state: FakeState) {
  const byId = (id: string) => state.vendors.find(({ entity }) => entity?.id === id);
  return fakePart(VendorListService, state, {
    recorded: {
      async listVendors({ filter, after, limit }) {
        const isArchive = filter === VendorFilter.ARCHIVED;
        const listed = state.vendors.filter(({ archived = false }) => archived === isArchive);
        const from = after ? listed.findIndex(({ entity }) => entity?.id === after.entityId) + 1 : 0;
        const vendors = listed.slice(from, from + limit);
        const last = listed.length > from + limit ? vendors.at(-1)?.entity : undefined;
        return { vendors, next: last && { value: last.legalName!, entityId: last.id! } };
      },
      async setVendorArchived({ entityId, archived }) {
        const vendor = byId(entityId);
        if (!vendor) throw new ServiceError("entity_not_found");
        Object.assign(vendor, { archived });
        return {};
      },
    },
    quiet: {
      countVendors: async () => state.vendorCounts,
      getVendors: async ({ entityIds }) => ({ vendors: entityIds.flatMap((id) => byId(id) ?? []) }),
      async compareNames({ pairs }) {
        return { agree: pairs.map(({ one, other }) => one.toLowerCase() === other.toLowerCase()) };
      },
    },
  });
}
