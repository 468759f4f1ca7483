import { createExpiry, environmentDatabases } from "@vvs/mongo";
import { migrateOutbox } from "@vvs/outbox";
import { environments } from "@vvs/tenant";
import type { MongoClient } from "mongodb";
import { collections } from "./store.ts";

/** How long a verification stays marked as compared, in seconds. Longer than Kafka keeps its record and its dead letter. */
const HANDLED_SECONDS = 31 * 24 * 60 * 60;

/** Creates the collections and indexes of both environments. It may run repeatedly and while the service runs. */
export async function migrate(options: { client: MongoClient; prefix: string }): Promise<void> {
  const databases = environmentDatabases(options.client, options.prefix, "change-detector");
  for (const environment of environments) {
    const { baselines, handled } = collections(databases[environment]);
    await baselines.createIndex({ organization_id: 1, monitor_id: 1 });
    await createExpiry(databases[environment], handled.collectionName, "handled_at", HANDLED_SECONDS);
    await migrateOutbox(databases[environment]);
  }
}
