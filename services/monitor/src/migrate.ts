import { migrateIdempotency } from "@vvs/idempotency";
import { environmentDatabases } from "@vvs/mongo";
import { migrateOutbox } from "@vvs/outbox";
import { environments } from "@vvs/tenant";
import type { Db, MongoClient } from "mongodb";
import { collections } from "./store.ts";

/** How long a run is kept after its claim: longer than Kafka keeps its records. */
const RUN_SECONDS = 30 * 24 * 60 * 60;
const NEWEST_FIRST = { created_at: -1, _id: -1 } as const;

/** Creates the collections and indexes of both environments; may run again, and beside a running service. */
export async function migrate(options: { client: MongoClient; prefix: string }): Promise<void> {
  const databases = environmentDatabases(options.client, options.prefix, "monitor");
  for (const environment of environments) {
    const db = databases[environment];
    await createIndexes(db);
    await migrateIdempotency(db);
    await migrateOutbox(db);
  }
}

async function createIndexes(db: Db): Promise<void> {
  const { monitors, runs, events, organizations } = collections(db);
  await monitors.createIndex({ organization_id: 1, status: 1, ...NEWEST_FIRST });
  await monitors.createIndex({ organization_id: 1, entity_id: 1, status: 1, ...NEWEST_FIRST });
  await monitors.createIndex({ organization_id: 1, status: 1, "last_run.outcome": 1, ...NEWEST_FIRST });
  await monitors.createIndex({ claimable_at: 1 }, { partialFilterExpression: { status: "active" } });
  await runs.createIndex({ claimed_at: 1 }, { expireAfterSeconds: RUN_SECONDS });
  await events.createIndex({ organization_id: 1, ...NEWEST_FIRST });
  await events.createIndex({ organization_id: 1, monitor_id: 1, ...NEWEST_FIRST });
  await events.createIndex({ monitor_id: 1, verification_id: 1 }, { unique: true });
  // It has no index but the one on _id, and transactions must find it there.
  await organizations.createIndex({ _id: 1 });
}
