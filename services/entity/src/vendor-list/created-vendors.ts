import { inBatches } from "@vvs/batching";
import { firstId } from "@vvs/ids";
import type { Logger } from "@vvs/logging";
import { isDuplicateKey } from "@vvs/mongo";
import { type SupervisedLoop, superviseLoop } from "@vvs/retry";
import { type Environment, environments } from "@vvs/tenant";
import type { ClientSession } from "mongodb";
import type { Collections, EntityDocument } from "../model/documents.ts";
import { newVendor, vendorKey } from "./listed-vendor.ts";
import { noteSubjects } from "./note-subjects.ts";

type Created = Pick<EntityDocument, "_id" | "legal_name"> & { readonly organization_id: string };

const BATCH = 500;
/** Replicas of an older version add nothing to the lists. The last of them ends this soon after the newest has started. */
const ROLLOUT_MS = 10 * 60_000;
/** A rollout begins this soon after its migration. */
const ROLLOUT_BEGINS_MS = 24 * 60 * 60_000;
/** More than the clocks of hosts differ, which make the ids of entities. */
const CLOCKS_DIFFER_MS = 60 * 60_000;

const vendorOf = ({ _id, organization_id: organizationId, legal_name }: Created) =>
  newVendor({ organizationId }, _id, legal_name);

/** Adds a new entity to the list of the organization that creates it, in the same transaction. */
export async function listCreated(
  { vendors }: Pick<Collections, "vendors">,
  session: ClientSession,
  entity: Created,
): Promise<void> {
  await vendors.insertOne(vendorOf(entity), { session });
}

/**
 * Adds the entities that organizations created to their lists, where they are missing: all, or only those created since a
 * time. It can run again, and beside the service. Returns how many were missing.
 */
export async function listAllCreated(
  { entities, vendors }: Pick<Collections, "entities" | "vendors">,
  since?: Date,
): Promise<number> {
  let added = 0;
  const add = async (batch: readonly Created[]) => {
    const keys = batch.map(({ _id, organization_id }) => vendorKey(organization_id, _id));
    const listed = await vendors.find({ _id: { $in: keys } }, { projection: { _id: 1 } }).toArray();
    const known = new Set(listed.map(({ _id }) => _id));
    const missing = batch.map(vendorOf).filter(({ _id }) => !known.has(_id));
    if (missing.length === 0) return;
    await vendors.insertMany(missing, { ordered: false }).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
    added += missing.length;
  };
  const filter = { organization_id: { $gt: "" }, ...(since && { _id: { $gte: firstId("ent", since) } }) };
  const created = entities.find(filter).project<Created>({ organization_id: 1, legal_name: 1 });
  for await (const batch of inBatches(created, BATCH)) await add(batch);
  return added;
}

/** Adds all created entities that are missing, and notes when. It can run again, and beside the service. */
export async function migrateCreated(
  collections: Pick<Collections, "entities" | "vendors" | "vendorListMigration">,
): Promise<void> {
  const { vendorListMigration } = collections;
  await vendorListMigration.updateOne({ _id: "created" }, [{ $set: { at: "$$NOW" } }], { upsert: true });
  await listAllCreated(collections);
}

/** Completes what replicas of an older version write after the migration: at the start, and once more when they have ended. */
export function startListingCreated(options: {
  collections: Readonly<Record<Environment, Collections>>;
  now: () => Date;
  stopping: AbortSignal;
  logger: Logger;
}): SupervisedLoop {
  const { collections, now, stopping, logger } = options;
  let rounds = 0;

  /** Returns whether there may be a rollout. */
  async function addMissing(environment: Environment): Promise<boolean> {
    const migration = await collections[environment].vendorListMigration.findOne({ _id: "created" });
    const isRollout = migration !== null && now().getTime() - migration.at.getTime() < ROLLOUT_BEGINS_MS;
    if (!isRollout) return false;
    const since = new Date(migration.at.getTime() - CLOCKS_DIFFER_MS);
    const added = await listAllCreated(collections[environment], since);
    if (added > 0) logger.info({ environment, added }, "entities were added to the lists of vendors");
    await noteSubjects(environment, collections[environment]);
    return true;
  }

  return superviseLoop({
    async round() {
      const isRollout = await Promise.all(environments.map(addMissing));
      rounds += 1;
      return rounds === 1 && isRollout.includes(true) ? ROLLOUT_MS : "done";
    },
    failure: "created entities can't be added to the lists of vendors; trying until they can",
    recovery: "created entities are added to the lists of vendors again",
    backoff: { firstMs: 1_000, longestMs: 30_000 },
    stopping,
    logger,
  });
}
