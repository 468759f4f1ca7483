import { inBatches } from "@vvs/batching";
import { inTransaction } from "@vvs/mongo";
import type { AnyBulkWriteOperation, ClientSession, MongoClient } from "mongodb";
import type { Collections, EntityDocument } from "../model/documents.ts";
import type { ListedVendorDocument } from "../model/listed-vendor.ts";
import { nameKeyOf, newVendor, noteMonitors, takenVendor, vendorKey, withTaken } from "./listed-vendor.ts";

const BATCH_SIZE = 200;

type OwnEntity = Pick<EntityDocument, "_id" | "organization_id" | "legal_name" | "registry_entity_id">;
type Lists = Pick<Collections, "vendors" | "vendorMonitors">;

/** Returns the entities whose monitors are counted for a vendor: its own, and the registry's that it took over. */
export function countedTogether({
  _id,
  registry_entity_id,
}: Pick<EntityDocument, "_id" | "registry_entity_id">): string[] {
  return registry_entity_id ? [_id, registry_entity_id] : [_id];
}

/**
 * Makes one vendor of each own entity and the registry entity that it took over, in the transaction in which it does. What is
 * left for the registry entity directs later changes to the own one, and makes one that is added at the same moment start again.
 */
export async function listTakeovers(
  { vendors, vendorMonitors }: Lists,
  session: ClientSession,
  entities: readonly OwnEntity[],
): Promise<void> {
  const ids = entities.flatMap(countedTogether);
  const owners = { $in: entities.map(({ organization_id }) => organization_id!) };
  const keys = entities.flatMap((entity) =>
    countedTogether(entity).map((id) => vendorKey(entity.organization_id!, id)),
  );
  const listed = await vendors.find({ _id: { $in: keys }, organization_id: owners }, { session }).toArray();
  const byKey = new Map(listed.map((vendor) => [vendor._id, vendor]));
  const open = entities.filter((entity) => {
    const taken = byKey.get(vendorKey(entity.organization_id!, entity.registry_entity_id!));
    return taken?.taken_by === undefined || taken.lists.length > 0;
  });
  if (open.length === 0) return;
  const monitors = await vendorMonitors
    .find({ organization_id: owners, entity_id: { $in: ids }, active: true }, { session })
    .toArray();
  const writes = open.flatMap((entity) => {
    const organizationId = entity.organization_id!;
    const [ownId, registryId] = countedTogether(entity) as [string, string];
    const taken = takenVendor({ organizationId }, registryId, ownId);
    const known = byKey.get(vendorKey(organizationId, registryId)) ?? taken;
    const unlisted = {
      ...newVendor({ organizationId }, ownId, ""),
      ...(known.archived && { archived: known.archived }),
    };
    const own = withTaken(byKey.get(vendorKey(organizationId, ownId)) ?? unlisted, known);
    const active = monitors.filter(
      ({ organization_id, entity_id }) =>
        organization_id === organizationId && (entity_id === ownId || entity_id === registryId),
    );
    const counted = noteMonitors(active.length)({ ...own, name_key: nameKeyOf(entity.legal_name) });
    return [counted, taken].map(
      (vendor): AnyBulkWriteOperation<ListedVendorDocument> => ({
        replaceOne: { filter: { _id: vendor._id }, replacement: vendor, upsert: true },
      }),
    );
  });
  await vendors.bulkWrite(writes, { session, ordered: false });
}

/** Lets later changes of these registry entities count as their own again, in the transaction in which the own entities leave them. */
export async function unlistTakeovers(
  { vendors }: Pick<Lists, "vendors">,
  session: ClientSession,
  left: readonly OwnEntity[],
): Promise<void> {
  const keys = left.map((entity) => vendorKey(entity.organization_id!, entity.registry_entity_id!));
  await vendors.deleteMany({ _id: { $in: keys }, taken_by: { $exists: true } }, { session });
}

/** Does the same as `listTakeovers` for entities that versions without this took over. */
export async function listEarlierTakeovers(client: MongoClient, collections: Lists & Pick<Collections, "entities">) {
  const own = collections.entities
    .find({ registry_entity_id: { $exists: true }, organization_id: { $gt: "" } })
    .project<OwnEntity>({ organization_id: 1, registry_entity_id: 1, legal_name: 1 });
  for await (const batch of inBatches(own, BATCH_SIZE)) {
    await inTransaction(client, (session) => listTakeovers(collections, session, batch));
  }
}
