import { isDuplicateKey } from "@vvs/mongo";
import type { Environment, Tenant } from "@vvs/tenant";
import type { Document, Filter } from "mongodb";
import type { Collections } from "../model/documents.ts";
import type { ListedVendorDocument, VendorTag } from "../model/listed-vendor.ts";
import { vendorKey } from "./listed-vendor.ts";

type OrderField = "name_key" | "checked_at" | "expires_on";

/** Which vendors a list contains, and in which order; ties are in the order of entity ids. */
export interface VendorQuery {
  readonly tag: VendorTag;
  readonly field: OrderField;
  readonly direction: 1 | -1;
  /** Only vendors whose field has at least this value; absent: all. */
  readonly from?: Date | string;
  /** Only vendors whose field is below this value; absent: all. */
  readonly before?: Date | string;
}

/** The place of a vendor in a list. */
export interface VendorPlace {
  readonly value: Date | string;
  readonly entityId: string;
}

/** An update of one vendor, from `listed-vendor.ts`. */
export interface VendorUpdate {
  readonly tenant: Tenant;
  readonly entityId: string;
  readonly stages: readonly Document[];
  /** The vendor to be listed and updated where it is missing. */
  readonly added?: ListedVendorDocument;
}

/** One for each order. `lists` comes first, so that a page of any filter reads only what it shows. */
export const vendorIndexes = (["name_key", "checked_at", "expires_on"] as const).map((field: OrderField) => ({
  key: { organization_id: 1, lists: 1, [field]: 1, entity_id: 1 } as Readonly<Record<string, 1>>,
}));

export type VendorStore = ReturnType<typeof createVendorStore>;

/** The lists of vendors. Each method reads and writes only the tenant's own. */
export function createVendorStore(options: {
  collections: Readonly<Record<Environment, Pick<Collections, "vendors" | "vendorMonitors">>>;
}) {
  const of = (tenant: Tenant) => options.collections[tenant.environment];
  const owned = ({ organizationId }: Tenant, entityId: string) => ({
    _id: vendorKey(organizationId, entityId),
    organization_id: organizationId,
  });

  return {
    /** Updates vendors of one environment with one command. Returns whether all of them are in the lists. */
    async update(environment: Environment, updates: readonly VendorUpdate[]): Promise<boolean> {
      if (updates.length === 0) return true;
      const writes = updates.map(({ tenant, entityId, stages, added }) => ({
        updateOne: {
          filter: owned(tenant, entityId),
          update: added
            ? [{ $replaceWith: { $mergeObjects: [{ $literal: added }, "$$ROOT"] } }, ...stages]
            : [...stages],
          upsert: added !== undefined,
        },
      }));
      const write = () => options.collections[environment].vendors.bulkWrite(writes);
      const { matchedCount, upsertedCount } = await write().catch((error: unknown) => {
        // Another replica lists the same vendor at this moment.
        if (isDuplicateKey(error)) return write();
        throw error;
      });
      return matchedCount + upsertedCount === writes.length;
    },

    /**
     * Stores whether a monitor is active. A monitor that was canceled stays so. Errors: a duplicate key if another call stores
     * it at the same moment, which may be repeated, or if it is another organization's.
     */
    async putMonitor(tenant: Tenant, monitor: { id: string; entityId: string; active: boolean }): Promise<void> {
      const { id: _id, entityId: entity_id, active } = monitor;
      const filter = { _id, organization_id: tenant.organizationId };
      const set = active ? { $setOnInsert: { entity_id, active } } : { $set: { entity_id, active } };
      await of(tenant).vendorMonitors.updateOne(filter, set, { upsert: true });
    },

    /** Returns whether the monitor is another organization's. */
    isForeignMonitor: async (tenant: Tenant, id: string): Promise<boolean> =>
      (await of(tenant).vendorMonitors.findOne({ _id: id, organization_id: { $ne: tenant.organizationId } })) !== null,

    /** Counts the active monitors of an entity. */
    countMonitors: (tenant: Tenant, entityId: string): Promise<number> =>
      of(tenant).vendorMonitors.countDocuments({
        organization_id: tenant.organizationId,
        entity_id: entityId,
        active: true,
      }),

    /** Returns at most `limit` vendors of a list, from its beginning or after a place. Reads no others, wherever that is. */
    async list(
      tenant: Tenant,
      { tag, field, direction, from, before }: VendorQuery,
      { limit, after }: { limit: number; after: VendorPlace | undefined },
    ): Promise<ListedVendorDocument[]> {
      const some = (filter: Filter<ListedVendorDocument>, most: number) =>
        of(tenant)
          .vendors.find({ organization_id: tenant.organizationId, lists: tag, ...filter })
          .sort({ [field]: direction, entity_id: direction })
          .limit(most)
          .toArray();
      const range = { ...(from !== undefined && { $gte: from }), ...(before !== undefined && { $lt: before }) };
      const beyond = <V>(value: V) => (direction === 1 ? { $gt: value } : { $lt: value });
      if (!after) return some(Object.keys(range).length > 0 ? { [field]: range } : {}, limit);
      // First the others with the same value. In one query, the database would read all that have it.
      const same = await some({ [field]: after.value, entity_id: beyond(after.entityId) }, limit);
      if (same.length === limit) return same;
      const rest = await some({ [field]: { ...range, ...beyond(after.value) } }, limit - same.length);
      return [...same, ...rest];
    },

    /** Counts the vendors of a list, up to `most`. */
    count: (tenant: Tenant, { tag, field, from, before }: VendorQuery, most: number): Promise<number> => {
      const range = { ...(from !== undefined && { $gte: from }), ...(before !== undefined && { $lt: before }) };
      const filter = {
        organization_id: tenant.organizationId,
        lists: tag,
        ...(Object.keys(range).length > 0 && { [field]: range }),
      };
      return of(tenant).vendors.countDocuments(filter, { limit: most });
    },

    /** Returns the vendors among these entities that are in the list, archived ones too. */
    find: (tenant: Tenant, entityIds: readonly string[]): Promise<ListedVendorDocument[]> =>
      of(tenant)
        .vendors.find({
          _id: { $in: entityIds.map((id) => vendorKey(tenant.organizationId, id)) },
          organization_id: tenant.organizationId,
        })
        .toArray(),
  };
}
