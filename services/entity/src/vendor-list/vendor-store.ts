import { isDeepStrictEqual } from "node:util";
import { isDuplicateKey, replaceUnchanged } from "@vvs/mongo";
import type { Environment, Tenant } from "@vvs/tenant";
import type { Filter } from "mongodb";
import type { Collections } from "../model/documents.ts";
import type { ListedVendorDocument, VendorTag } from "../model/listed-vendor.ts";
import { type VendorChange, vendorKey } from "./listed-vendor.ts";

/** How often changes are tried that other processes' changes of the same vendors come before. */
const TRIES = 20;
/** Number of vendors that a process keeps as it wrote them, so that those verified again and again need not be read each time. */
const KEPT = 1_000;

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
export interface VendorUpdate {
  readonly tenant: Tenant;
  readonly entityId: string;
  readonly change: VendorChange;
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

  const owned = (updates: readonly Pick<VendorUpdate, "tenant" | "entityId">[]) => ({
    _id: { $in: updates.map(({ tenant, entityId }) => vendorKey(tenant.organizationId, entityId)) },
    organization_id: { $in: updates.map(({ tenant }) => tenant.organizationId) },
  });

  /** The vendors that this process wrote last, in the order in which it did. */
  const written = { live: new Map<string, ListedVendorDocument>(), sandbox: new Map<string, ListedVendorDocument>() };

  function keep(environment: Environment, vendors: readonly ListedVendorDocument[]): void {
    const kept = written[environment];
    for (const vendor of vendors) {
      kept.delete(vendor._id);
      kept.set(vendor._id, vendor);
    }
    for (const key of kept.keys()) {
      if (kept.size <= KEPT) return;
      kept.delete(key);
    }
  }

  return {
    /**
     * Changes vendors of one environment. Of those that are not listed, `add` returns what is to be listed and changed instead;
     * undefined: nothing. Returns whether all of them are in the lists.
     */
    async update<Update extends VendorUpdate>(
      environment: Environment,
      updates: readonly Update[],
      add: (unlisted: readonly Update[]) => Promise<(ListedVendorDocument | undefined)[]> = async () => [],
    ): Promise<boolean> {
      const { vendors } = options.collections[environment];
      const byKey = Map.groupBy(updates, ({ tenant, entityId }) => vendorKey(tenant.organizationId, entityId));
      const changeOf = (before: ListedVendorDocument) => ({
        before,
        after: byKey.get(before._id)!.reduce((vendor, { change }) => change(vendor), before),
      });
      for (let left = TRIES; left > 0; left--) {
        // One that another process changed is not replaced. Where nothing is to be written, that would not be seen: it is read.
        const known = [...byKey.keys()].flatMap((key) => written[environment].get(key) ?? []);
        const changes = known.map(changeOf).filter(isChange);
        const unread = new Map(byKey);
        for (const { before } of changes) unread.delete(before._id);
        const read = unread.size > 0 ? await vendors.find(owned([...unread.values()].flat())).toArray() : [];
        if (redirect(byKey, read)) continue;
        for (const { _id } of read) unread.delete(_id);
        const unlisted = [...unread.values()].map(([first]) => first!);
        const added = unlisted.length > 0 ? (await add(unlisted)).filter((each) => each !== undefined) : [];
        changes.push(...read.map(changeOf).filter(isChange));
        const inserted = added.map((each) => changeOf(each).after);
        const isWritten = await Promise.all([insertNew(vendors, inserted), replaceUnchanged(vendors, changes)]);
        if (isWritten.every(Boolean)) {
          keep(environment, [...inserted, ...changes.map(({ after }) => after)]);
          return added.length === unlisted.length;
        }
        for (const key of byKey.keys()) written[environment].delete(key);
      }
      throw new Error("vendors were changed by others each time that they were to be changed");
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

    /** Counts the active monitors of entities. */
    countMonitors: (tenant: Tenant, entityIds: readonly string[]): Promise<number> =>
      of(tenant).vendorMonitors.countDocuments({
        organization_id: tenant.organizationId,
        entity_id: { $in: [...entityIds] },
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

    /** Returns the vendors among these entities that are in the list, archived ones too; for one that was taken over, its taker. */
    async find(tenant: Tenant, entityIds: readonly string[]): Promise<ListedVendorDocument[]> {
      const read = (ids: readonly string[]) =>
        of(tenant)
          .vendors.find(owned(ids.map((entityId) => ({ tenant, entityId }))))
          .toArray();
      const found = await read(entityIds);
      const takers = found.flatMap(({ taken_by }) => taken_by ?? []);
      if (takers.length === 0) return found;
      return (await read([...entityIds, ...takers])).filter(({ taken_by }) => taken_by === undefined);
    },
  };
}

/** Directs the changes of entities that were taken over to the own ones that took them over. Returns whether there are any. */
function redirect<Update extends VendorUpdate>(
  byKey: Map<string, Update[]>,
  read: readonly ListedVendorDocument[],
): boolean {
  const taken = read.filter(({ taken_by }) => taken_by !== undefined);
  for (const { _id, organization_id, taken_by: entityId = "" } of taken) {
    const key = vendorKey(organization_id, entityId);
    const redirected = byKey.get(_id)!.map((update) => ({ ...update, entityId }));
    byKey.set(key, [...(byKey.get(key) ?? []), ...redirected]);
    byKey.delete(_id);
  }
  return taken.length > 0;
}

const isChange = ({ before, after }: { before: ListedVendorDocument; after: ListedVendorDocument }) =>
  !isDeepStrictEqual(before, after);

/** Inserts documents. Returns false if some of them were there already. */
async function insertNew(vendors: Collections["vendors"], added: readonly ListedVendorDocument[]): Promise<boolean> {
  if (added.length === 0) return true;
  try {
    await vendors.insertMany([...added], { ordered: false });
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}
