import { migrateIdempotency } from "@vvs/idempotency";
import { createCollections, environmentDatabases } from "@vvs/mongo";
import { migrateOutbox } from "@vvs/outbox";
import { environments } from "@vvs/tenant";
import type { MongoClient } from "mongodb";
import { migrateAskedVerifications } from "./audit/asked-verifications.ts";
import { bodiesOf } from "./evidence/bodies.ts";
import { migrateJobs } from "./jobs/documents.ts";
import { organizationCallsOf } from "./provider-budgets/budget-store.ts";
import { attemptCountsOf } from "./provider-health/attempt-counts.ts";
import { providerCallsOf } from "./provider-health/provider-calls-store.ts";
import { migrateQueue } from "./questions/documents.ts";
import { migrateWatches } from "./questions/watch-documents.ts";
import { collectionsOf } from "./store.ts";
import { migrateGuesses } from "./tin-guessing/guesses-store.ts";

/** How long attempt counts are kept: as long as the usage of keys, next to which they are shown. */
const ATTEMPTS_KEPT_SECONDS = 400 * 24 * 60 * 60;

/** How long counts of providers' calls are kept: as long as a key of SAM.gov is valid. */
const CALLS_KEPT_SECONDS = 90 * 24 * 60 * 60;

/** Creates this service's collections and indexes. It may run repeatedly, and while services run. */
export async function migrate(options: { client: MongoClient; prefix: string }): Promise<void> {
  const databases = environmentDatabases(options.client, options.prefix, "verification");
  for (const environment of environments) {
    const db = databases[environment];
    const { verifications, evidence, latestAnswers } = collectionsOf(db);
    await createCollections(db, [
      ...[verifications, evidence, latestAnswers].map(({ collectionName }) => collectionName),
      "provider_state",
      "sandbox_turns",
      "evidence_bodies",
      "evidence_removals",
      "evidence_sweeps",
      "provider_attempts",
      "provider_calls",
    ]);
    await verifications.createIndexes([
      { key: { organization_id: 1, created_at: -1, _id: -1 } },
      { key: { organization_id: 1, entity_id: 1, created_at: -1, _id: -1 } },
      {
        key: { organization_id: 1, run_record_id: 1 },
        unique: true,
        partialFilterExpression: { run_record_id: { $exists: true } },
      },
    ]);
    // Without a tenant, for retention: what is past its time, and what still names evidence, its parts or its body.
    await verifications.createIndexes([
      { key: { expires_at: 1 } },
      { key: { "results.evidence_id": 1 }, partialFilterExpression: { mode: "cached" } },
    ]);
    await evidence.createIndexes([{ key: { rests_on: 1 }, sparse: true }, { key: { sha256: 1, created_at: 1 } }]);
    if (environment === "sandbox") {
      const ofRuns = { partialFilterExpression: { run: { $exists: true } } };
      await verifications.createIndex({ organization_id: 1, created_at: -1, _id: -1, removal: 1 }, ofRuns);
    }
    await bodiesOf(db).createIndex({ last_put_at: 1 });
    await attemptCountsOf(db).createIndex({ hour: 1 }, { expireAfterSeconds: ATTEMPTS_KEPT_SECONDS });
    await providerCallsOf(db).createIndex({ day: 1 }, { expireAfterSeconds: CALLS_KEPT_SECONDS });
    await migrateAskedVerifications(db);
    await migrateJobs(db);
    await migrateIdempotency(db);
    await migrateOutbox(db);
  }
  await createCollections(databases.live, ["organization_provider_calls"]);
  await organizationCallsOf(databases.live).createIndex({ day: 1 }, { expireAfterSeconds: CALLS_KEPT_SECONDS });
  // Sandbox runs never wait for SAM.gov's API, and the sandbox reveals nothing about real TINs.
  await migrateQueue(databases.live);
  await migrateWatches(databases.live);
  await migrateGuesses(databases.live);
}
