import { firstId } from "@vvs/ids";
import type { Logger } from "@vvs/logging";
import { isDuplicateKey } from "@vvs/mongo";
import { type SupervisedLoop, superviseLoop } from "@vvs/retry";
import { environments } from "@vvs/tenant";
import type { ClientSession } from "mongodb";
import type { Collections, EntityDocument } from "../model/documents.ts";
import { nameKeyOf, newVendor, vendorKey } from "./listed-vendor.ts";

type Created = Pick<EntityDocument, "_id" | "legal_name"> & { readonly organization_id: string };

const BATCH = 500;
/** Replicas of an older version add nothing to the lists. The last of them ends this soon after the newest has started. */
const ROLLOUT_MS = 10 * 60_000;
const LONG_BEFORE_MS = 60 * 60_000;
const NEVER_MS = 2 ** 31 - 1;

const vendorOf = (entity: Created) => ({
  ...newVendor({ organizationId: entity.organization_id }, entity._id),
  name_key: nameKeyOf(entity.legal_name),
});

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
  const batch: Created[] = [];
  for await (const entity of entities.find(filter).project<Created>({ organization_id: 1, legal_name: 1 })) {
    batch.push(entity);
    if (batch.length === BATCH) await add(batch.splice(0));
  }
  await add(batch);
  return added;
}

/** Adds what replicas of an older version create during a rollout: at the start, and once more when it is over. */
export function startListingCreated(options: {
  collections: Readonly<Record<"live" | "sandbox", Pick<Collections, "entities" | "vendors">>>;
  now: () => Date;
  stopping: AbortSignal;
  logger: Logger;
}): SupervisedLoop {
  const { collections, now, stopping, logger } = options;
  const since = new Date(now().getTime() - LONG_BEFORE_MS);
  let rounds = 0;
  return superviseLoop({
    async round() {
      for (const environment of environments) {
        const added = await listAllCreated(collections[environment], since);
        if (added > 0) logger.info({ environment, added }, "entities were added to the lists of vendors");
      }
      rounds += 1;
      return rounds === 1 ? ROLLOUT_MS : NEVER_MS;
    },
    failure: "created entities can't be added to the lists of vendors; trying until they can",
    recovery: "created entities are added to the lists of vendors again",
    backoff: { firstMs: 1_000, longestMs: 30_000 },
    stopping,
    logger,
  });
}
