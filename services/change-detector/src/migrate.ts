import { createExpiry, environmentDatabases } from "@vvs/mongo";
import { migrateOutbox } from "@vvs/outbox";
import { environments } from "@vvs/tenant";
import type { MongoClient } from "mongodb";
import { collections } from "./store.ts";

const DAY_SECONDS = 24 * 60 * 60;
/**
 * How long a verification stays marked as compared, in seconds. Live: longer than Kafka keeps its record and its dead letter. In the
 * sandbox: longer than its record; a dead letter that is put back later finds a baseline of this run or a newer one.
 */
const HANDLED_SECONDS = { live: 31 * DAY_SECONDS, sandbox: 14 * DAY_SECONDS };

/** Creates the collections and indexes of both environments. It may run repeatedly and while the service runs. */
export async function migrate(options: { client: MongoClient; prefix: string }): Promise<void> {
  const databases = environmentDatabases(options.client, options.prefix, "change-detector");
  for (const environment of environments) {
    const { baselines, handled } = collections(databases[environment]);
    await baselines.createIndex({ organization_id: 1, monitor_id: 1 });
    await createExpiry(databases[environment], handled.collectionName, "handled_at", HANDLED_SECONDS[environment]);
    await migrateOutbox(databases[environment]);
  }
}
