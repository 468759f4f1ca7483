import { isDeepStrictEqual } from "node:util";
import { isDuplicateKey } from "@vvs/mongo";
import type { Environment, Tenant } from "@vvs/tenant";
import { type BulkWriteResult, type Filter, MongoBulkWriteError } from "mongodb";
import type { Collections } from "../model/documents.ts";
import { type ListedVendorDocument, newVendor, type VendorTag, vendorKey } from "./listed-vendor.ts";

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

/** A change of one vendor. */
export interface VendorChange {
  readonly tenant: Tenant;
  readonly entityId: string;
  readonly next: (vendor: ListedVendorDocument) => ListedVendorDocument;
}

/** More attempts than a vendor ever has concurrent writers. */
const MAX_ATTEMPTS = 50;

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

  /** Replaces a vendor that was read, or adds one that was not there. Returns false if another call was first. */
  async function replace(tenant: Tenant, read: ListedVendorDocument | null, next: ListedVendorDocument) {
    const { vendors } = of(tenant);
    if (read) {
      const asRead = { ...owned(tenant, read.entity_id), revision: read.revision };
      return (await vendors.replaceOne(asRead, { ...next, revision: read.revision + 1 })).matchedCount === 1;
    }
    try {
      await vendors.insertOne(next);
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return false;
    }
  }

  return {
    /**
     * Changes a vendor of the list. One that is not in it is added first if `adds`. Each of several concurrent changes is
     * made to the result of another, so `next` may be called repeatedly; it may read what decides the change. Returns false
     * if the vendor is not in the list.
     */
    async change(
      tenant: Tenant,
      entityId: string,
      next: (vendor: ListedVendorDocument) => Promise<ListedVendorDocument> | ListedVendorDocument,
      { adds }: { adds: boolean },
    ): Promise<boolean> {
      for (let left = MAX_ATTEMPTS; left > 0; left--) {
        const read = await of(tenant).vendors.findOne(owned(tenant, entityId));
        if (!read && !adds) return false;
        if (await replace(tenant, read, await next(read ?? newVendor(tenant, entityId)))) return true;
      }
      throw new Error("a vendor of the list was changed by others again and again");
    },

    /**
     * Makes many changes of vendors of one environment, which are added first where they are in no list, with a read and a
     * write for all of them. `next` may be called repeatedly, and must change nothing when it is called with its own result.
     */
    async changeMany(environment: Environment, changes: readonly VendorChange[]): Promise<void> {
      const { vendors } = options.collections[environment];
      const keyed = Map.groupBy(changes, ({ tenant, entityId }) => vendorKey(tenant.organizationId, entityId));
      for (let left = MAX_ATTEMPTS; left > 0; left--) {
        const read = await vendors.find({ _id: { $in: [...keyed.keys()] } }).toArray();
        const before = new Map(read.map((vendor) => [vendor._id, vendor]));
        const writes = [...keyed].flatMap(([key, [first, ...others]]) => {
          const known = before.get(key);
          const vendor = [first!, ...others].reduce(
            (changed, { next }) => next(changed),
            known ?? newVendor(first!.tenant, first!.entityId),
          );
          if (!known) return { insertOne: { document: vendor } };
          if (isDeepStrictEqual(vendor, known)) return [];
          const filter = { ...owned(first!.tenant, first!.entityId), revision: known.revision };
          return { replaceOne: { filter, replacement: { ...vendor, revision: known.revision + 1 } } };
        });
        if (writes.length === 0) return;
        const { insertedCount, matchedCount } = await vendors
          .bulkWrite(writes, { ordered: false })
          .catch(asAddedByOthers);
        if (insertedCount + matchedCount === writes.length) return;
      }
      throw new Error("vendors of lists were changed by others again and again");
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

/** Returns what a bulk write did where others added some of the vendors first. Errors: any other. */
function asAddedByOthers(error: unknown): Pick<BulkWriteResult, "insertedCount" | "matchedCount"> {
  if (error instanceof MongoBulkWriteError && isDuplicateKey(error)) return error.result;
  throw error;
}
