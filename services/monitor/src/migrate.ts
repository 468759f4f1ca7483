import { migrateIdempotency } from "@vvs/idempotency";
import { createCollections, createExpiry, environmentDatabases } from "@vvs/mongo";
import { migrateLeases, migrateOutbox } from "@vvs/outbox";
import { environments } from "@vvs/tenant";
import type { Db, MongoClient } from "mongodb";
import { auditEntriesOf } from "./audit/audit-entries.ts";
import { ensureEnd, UNNUMBERED } from "./events/event-sequencer.ts";
import { EVENT_DAYS } from "./events/named-verifications.ts";
import { notificationsOf } from "./events/notifications.ts";
import { erringAgain } from "./model/unanswered.ts";
import { UNPUBLISHED_STATES } from "./monitors/state-publisher.ts";
import { collections, watchesRegistration } from "./store.ts";

/**
 * How long a run that has not ended is kept after its claim, in seconds. Longer than Kafka keeps its records. One that has ended goes
 * with its verification (events/named-verifications.ts).
 */
const OPEN_RUN_SECONDS = 400 * 24 * 60 * 60;
/** Work of this service whose shards are leased. */
const LEASED = ["event_sequencer", "audit_reporter", "notification_reporter", "state_publisher", "sweep"] as const;
const NEWEST_FIRST = { created_at: -1, _id: -1 } as const;

/** Creates the collections and indexes of both environments. It may run repeatedly and while the service runs. */
export async function migrate(options: { client: MongoClient; prefix: string }): Promise<void> {
  const databases = environmentDatabases(options.client, options.prefix, "monitor");
  for (const environment of environments) {
    const db = databases[environment];
    await createIndexes(db);
    await ensureEnd(db);
    // In the sandbox events are removed earlier, and their monitors note it.
    if (environment === "live") await createExpiry(db, "monitor_events", "created_at", EVENT_DAYS * 24 * 60 * 60);
    await migrateIdempotency(db);
    await migrateOutbox(db);
    for (const name of LEASED) await migrateLeases(db, name);
  }
}

async function createIndexes(db: Db): Promise<void> {
  const { monitors, runs, events, counts } = collections(db);
  const { sweepPositions } = collections(db);
  await createCollections(db, [counts.collectionName, "event_positions", "event_waits", "schedule_turns"]);
  await createCollections(db, [sweepPositions.collectionName]);
  await auditEntriesOf(db).createIndex({ shard: 1, _id: 1 });
  await notificationsOf(db).createIndex({ shard: 1, _id: 1 });
  await monitors.createIndex({ organization_id: 1, status: 1, ...NEWEST_FIRST });
  await monitors.createIndex({ organization_id: 1, entity_id: 1, status: 1, ...NEWEST_FIRST });
  await monitors.createIndex({ organization_id: 1, status: 1, "last_run.outcome": 1, ...NEWEST_FIRST });
  const numbered = { partialFilterExpression: { external_id: { $exists: true } } };
  await monitors.createIndex({ organization_id: 1, external_id: 1, status: 1, ...NEWEST_FIRST }, numbered);
  const unique = { unique: true, partialFilterExpression: { job_key: { $exists: true }, status: "active" } };
  await monitors.createIndex({ organization_id: 1, job_key: 1 }, unique);
  const erring = { partialFilterExpression: erringAgain };
  await monitors.createIndex({ organization_id: 1, status: 1, ...NEWEST_FIRST, consecutive_errors: 1 }, erring);
  await monitors.createIndex(
    { "erring.lacks_input": 1, status: 1, consecutive_errors: 1, "erring.since": 1, organization_id: 1 },
    erring,
  );
  const isActive = { partialFilterExpression: { status: "active" } };
  // A canceled monitor has no claimable_at.
  const isClaimable = { partialFilterExpression: { claimable_at: { $exists: true } } };
  // Those without a place come first: what is swept costs the search for due monitors nothing.
  await monitors.createIndex({ "standing.offset_ms": 1, claimable_at: 1 }, isActive);
  await monitors.createIndex({ organization_id: 1, "standing.offset_ms": 1, claimable_at: 1 }, isClaimable);
  const isSwept = { partialFilterExpression: { "standing.offset_ms": { $exists: true } } };
  await monitors.createIndex({ frequency: 1, "standing.offset_ms": 1 }, isSwept);
  const hasExtra = { partialFilterExpression: { "standing.until": { $exists: true } } };
  await monitors.createIndex({ "standing.until": 1 }, hasExtra);
  const expires = { partialFilterExpression: { expiry_run_at: { $exists: true } } };
  await monitors.createIndex({ expiry_run_at: 1 }, expires);
  for (const { index } of UNPUBLISHED_STATES) await monitors.createIndex(index);
  await monitors.createIndex(
    { extras_wait: 1, organization_id: 1 },
    { partialFilterExpression: { extras_wait: true } },
  );
  await monitors.createIndex({ entity_id: 1 }, { partialFilterExpression: watchesRegistration });
  const open = { name: "open_claimed_at", partialFilterExpression: { ended_at: null } };
  await runs.createIndex({ claimed_at: 1 }, { ...open, expireAfterSeconds: OPEN_RUN_SECONDS });
  const ended = { partialFilterExpression: { ended_at: { $exists: true } } };
  await runs.createIndex({ organization_id: 1, monitor_id: 1, ended_at: -1, _id: -1 }, ended);
  await events.createIndex({ organization_id: 1, ...NEWEST_FIRST });
  await events.createIndex({ organization_id: 1, monitor_id: 1, ...NEWEST_FIRST });
  await events.createIndex({ monitor_id: 1, verification_id: 1 }, { unique: true });
  const unnumbered = { name: UNNUMBERED.name, partialFilterExpression: UNNUMBERED.filter };
  await events.createIndex({ ...UNNUMBERED.order, organization_id: 1 }, unnumbered);
  await events.createIndex(
    { organization_id: 1, position: 1 },
    { unique: true, partialFilterExpression: { position: { $exists: true } } },
  );
}
