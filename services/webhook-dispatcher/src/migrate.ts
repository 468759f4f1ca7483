import { environmentDatabases } from "@vvs/mongo";
import type { Db, IndexDescription, MongoClient } from "mongodb";
import { upgradeDeliveries } from "./upgrade.ts";

/** Longer than a topic keeps records, so that one that is replayed makes no second delivery. */
const DELIVERIES_KEPT_SECONDS = 90 * 24 * 60 * 60;

/** Creates collections and indexes; repeatable. */
export async function migrate(options: { client: MongoClient; prefix: string }): Promise<void> {
  const databases = environmentDatabases(options.client, options.prefix, "webhook-dispatcher");
  await Promise.all([migrateDatabase(databases.live), migrateDatabase(databases.sandbox)]);
}

async function migrateDatabase(db: Db): Promise<void> {
  const deliveries = db.collection("deliveries");
  await deliveries.createIndexes([
    { key: { next_attempt_at: 1 }, partialFilterExpression: { status: "pending" }, name: "due" },
    // Holds what waits for its endpoint alone; with its first field in it, counting reads no document.
    { key: { held: 1, endpoint_id: 1, next_attempt_at: 1 }, partialFilterExpression: { held: true }, name: "held" },
    {
      key: { monitor_id: 1, run_seq: 1 },
      partialFilterExpression: { first_attempt_owed: true },
      name: "owed_first_attempts",
    },
    { key: { organization_id: 1, created_at: -1, _id: -1 } },
    { key: { organization_id: 1, monitor_id: 1, created_at: -1, _id: -1 } },
    ...lists(),
    { key: { created_at: 1 }, expireAfterSeconds: DELIVERIES_KEPT_SECONDS },
  ]);
  await upgradeDeliveries(db);
  await db
    .collection("endpoints")
    .createIndexes([{ key: { organization_id: 1, failing_since: 1 } }, { key: { updated_at: 1 } }]);
  await db.collection("replays").createIndexes([
    { key: { lease_until: 1 }, partialFilterExpression: { state: "running" }, name: "running" },
    { key: { created_at: 1 }, expireAfterSeconds: DELIVERIES_KEPT_SECONDS },
  ]);
}

/**
 * For what people look for. Those of a state hold what is in it alone: a delivery that succeeds at once passes through
 * one of them, and people who look for the few that failed read those few.
 */
function lists(): IndexDescription[] {
  const newestFirst = { organization_id: 1, created_at: -1, _id: -1 } as const;
  return [
    { key: { endpoint_id: 1, created_at: -1, _id: -1 } },
    { key: newestFirst, partialFilterExpression: { status: "failed" }, name: "failed" },
    { key: newestFirst, partialFilterExpression: { status: "pending" }, name: "pending" },
    { key: newestFirst, partialFilterExpression: { test: true }, name: "tests" },
  ];
}
