import { createCollections, createExpiry, dropIndex, environmentDatabases } from "@vvs/mongo";
import type { Db, MongoClient } from "mongodb";

/** Longer than topics keep records, so that a record that is read again creates no second delivery. */
const DELIVERIES_KEPT_SECONDS = 90 * 24 * 60 * 60;
/** The same in the sandbox, where they are reduced to their ids before. Longer than dead letters are kept. */
const SANDBOX_IDS_KEPT_SECONDS = 31 * 24 * 60 * 60;
/** From the last attempt. */
const ENDPOINTS_KEPT_SECONDS = 90 * 24 * 60 * 60;

/** Creates collections and indexes; repeatable. */
export async function migrate(options: { client: MongoClient; prefix: string }): Promise<void> {
  const databases = environmentDatabases(options.client, options.prefix, "webhook-dispatcher");
  await Promise.all([
    migrateDatabase(databases.live, DELIVERIES_KEPT_SECONDS),
    migrateDatabase(databases.sandbox, SANDBOX_IDS_KEPT_SECONDS),
  ]);
}

async function migrateDatabase(db: Db, deliveriesKeptSeconds: number): Promise<void> {
  const deliveries = db.collection("deliveries");
  const newestFirst = { organization_id: 1, created_at: -1, _id: -1 } as const;
  await deliveries.createIndexes([
    { key: { next_attempt_at: 1 }, partialFilterExpression: { status: "pending" }, name: "due" },
    // Only held deliveries. It begins with `held`, so that counting reads no document.
    { key: { held: 1, endpoint_id: 1, next_attempt_at: 1 }, partialFilterExpression: { held: true }, name: "held" },
    // It contains all: MongoDB keeps removed entries for five minutes, and a search for a monitor that has none walks on to the
    // next entry that is left.
    { key: { monitor_id: 1, first_attempt_owed: 1, run_seq: 1 }, name: "first_attempts" },
    { key: newestFirst },
    { key: { organization_id: 1, monitor_id: 1, created_at: -1, _id: -1 } },
    { key: { url_removed: 1 }, partialFilterExpression: { url_removed: true }, name: "url_removed" },
    // Lists that users read. An index of a state contains only the deliveries in it, so a search for the few that failed
    // reads only those.
    { key: { endpoint_id: 1, created_at: -1, _id: -1 } },
    { key: newestFirst, partialFilterExpression: { status: "failed" }, name: "failed" },
    { key: newestFirst, partialFilterExpression: { status: "pending" }, name: "pending" },
    { key: newestFirst, partialFilterExpression: { test: true }, name: "tests" },
  ]);
  await dropIndex(deliveries, "owed_first_attempts");
  await createExpiry(db, "deliveries", "created_at", deliveriesKeptSeconds);
  await createCollections(db, ["monitor_urls"]);
  await db.collection("sandbox_hours").createIndexes([{ key: { expires_at: 1 }, expireAfterSeconds: 0 }]);
  await db
    .collection("endpoints")
    .createIndexes([
      { key: { organization_id: 1, failing_since: 1 } },
      { key: { failing_since: 1 }, partialFilterExpression: { failing_since: { $type: "date" } } },
    ]);
  await createExpiry(db, "endpoints", "updated_at", ENDPOINTS_KEPT_SECONDS);
  await db.collection("replays").createIndexes([
    { key: { lease_until: 1 }, partialFilterExpression: { state: "running" }, name: "running" },
    { key: { created_at: 1 }, expireAfterSeconds: DELIVERIES_KEPT_SECONDS },
  ]);
}
