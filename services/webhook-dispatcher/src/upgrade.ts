import { type AnyBulkWriteOperation, type Collection, type Db, MongoServerError } from "mongodb";
import type { Delivery } from "./delivery.ts";
import { endpointId } from "./endpoint.ts";

const BATCH = 500;
/** Of lists and lanes as they were; what took their place has other names. */
const FORMER_INDEXES = ["first_attempts", "organization_id_1_status_1_created_at_-1__id_-1"];

/**
 * Gives deliveries that were taken over before endpoints had documents what the engine and lists go by, and drops the
 * indexes of that time. Repeatable; finds nothing from the second time on, by the index of endpoints.
 */
export async function upgradeDeliveries(db: Db): Promise<void> {
  const deliveries = db.collection<Delivery>("deliveries");
  for (const name of FORMER_INDEXES) await deliveries.dropIndex(name).catch(ignoreAbsent);
  for (;;) {
    const former = await deliveries
      .find({ endpoint_id: { $eq: null as never } })
      .project<Pick<Delivery, "_id" | "organization_id" | "webhook_url">>({ organization_id: 1, webhook_url: 1 })
      .limit(BATCH)
      .toArray();
    if (former.length === 0) return;
    await upgradeBatch(deliveries, former);
  }
}

async function upgradeBatch(
  deliveries: Collection<Delivery>,
  former: readonly Pick<Delivery, "_id" | "organization_id" | "webhook_url">[],
): Promise<void> {
  const isOwed = { $and: [{ $eq: ["$status", "pending"] }, { $eq: [{ $size: "$attempts" }, 0] }] };
  const operations = former.map(({ _id, organization_id, webhook_url }): AnyBulkWriteOperation<Delivery> => {
    const upgraded = {
      endpoint_id: endpointId(organization_id, webhook_url),
      due_at: { $ifNull: ["$next_attempt_at", "$created_at"] },
      first_attempt_owed: { $cond: [isOwed, true, "$$REMOVE"] },
    };
    return { updateOne: { filter: { _id, organization_id }, update: [{ $set: upgraded }] } };
  });
  await deliveries.bulkWrite(operations, { ordered: false });
}

function ignoreAbsent(error: unknown): void {
  const absent = ["IndexNotFound", "NamespaceNotFound"];
  if (!(error instanceof MongoServerError) || !absent.includes(String(error.codeName))) throw error;
}
