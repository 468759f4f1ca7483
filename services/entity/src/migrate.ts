import { migrateIdempotency } from "@vvs/idempotency";
import { createCollections, createExpiry, environmentDatabases } from "@vvs/mongo";
import { migrateLeases, migrateOutbox } from "@vvs/outbox";
import { environments } from "@vvs/tenant";
import type { Db, MongoClient } from "mongodb";
import { UNPUBLISHED } from "./announcements/announce.ts";
import { collectionsOf } from "./model/documents.ts";
import { loadSandboxRegistry } from "./sandbox/load-sandbox.ts";
import { rekeyNames } from "./tins/rekey.ts";
import { listEarlierTakeovers } from "./vendor-list/taken-over.ts";
import { vendorIndexes } from "./vendor-list/vendor-store.ts";

/** Guards are kept much longer than the transactions that need them. */
const GUARD_SECONDS = 86_400;
/** How long it is on record who received a TIN, in seconds: seven years. */
const REVEALS_SECONDS = 2_557 * 86_400;
const OF_AN_ORGANIZATION = { organization_id: { $gt: "" } };

/**
 * Creates the collections and indexes of both environments, renews the keys of excluded names (no vendor may be cleared before
 * they can be found), makes one vendor of those that older versions list twice, and loads the made-up registry into the sandbox. It can
 * run again, and is quick if nothing changed.
 */
export async function migrate(options: { client: MongoClient; prefix: string; now?: () => Date }): Promise<void> {
  const { client, prefix, now = () => new Date() } = options;
  const databases = environmentDatabases(client, prefix, "entity");
  await Promise.all(environments.map((environment) => createIndexes(databases[environment])));
  await Promise.all(environments.map((environment) => rekeyNames(collectionsOf(databases[environment]))));
  for (const environment of environments) {
    await listEarlierTakeovers(client, collectionsOf(databases[environment]));
  }
  await loadSandboxRegistry({ client, collections: collectionsOf(databases.sandbox), now });
}

async function createIndexes(db: Db): Promise<void> {
  const collections = collectionsOf(db);
  const { entities, snapshots, carriedTins, remembered, exclusions, loads, quarantine, changes, tinReveals } =
    collections;
  const { fingerprintKeys, loadLocks, createdCounts, announcements } = collections;
  const unindexed = [fingerprintKeys, loadLocks, createdCounts, announcements].map(
    ({ collectionName }) => collectionName,
  );
  await createCollections(db, unindexed);
  await entities.createIndexes([
    {
      key: { "identifiers.uei": 1, organization_id: 1 },
      unique: true,
      partialFilterExpression: { "identifiers.uei": { $exists: true } },
    },
    {
      key: { "identifiers.cage": 1, organization_id: 1 },
      partialFilterExpression: { "identifiers.cage": { $exists: true } },
    },
    { key: { other_cages: 1 }, sparse: true },
    { key: { former_cages: 1 }, sparse: true },
    { key: { organization_id: 1, claims: 1 }, unique: true, partialFilterExpression: { claims: { $exists: true } } },
    {
      key: { organization_id: 1, content_hash: 1 },
      unique: true,
      partialFilterExpression: { content_hash: { $exists: true } },
    },
    {
      key: { organization_id: 1, registry_entity_id: 1 },
      partialFilterExpression: { registry_entity_id: { $exists: true } },
    },
    { key: { registry_entity_id: 1 }, partialFilterExpression: { registry_entity_id: { $exists: true } } },
    { key: { organization_id: 1, created_at: -1, _id: -1 }, partialFilterExpression: OF_AN_ORGANIZATION },
    { key: { organization_id: 1, own_changed_at: -1 }, partialFilterExpression: OF_AN_ORGANIZATION },
    { key: { match_version: 1 } },
    { key: { name_keys: 1, organization_id: 1 } },
    { key: { candidate_keys: 1, organization_id: 1 } },
    { key: { address_keys: 1, organization_id: 1 } },
  ]);
  await snapshots.createIndexes([
    { key: { entity_id: 1, version: 1 }, unique: true },
    { key: { entity_id: 1, created_at: -1, _id: -1 } },
  ]);
  await carriedTins.createIndexes([
    { key: { organization_id: 1, hash: 1 }, unique: true },
    // While keys rotate, one TIN may have two hashes, but it has one fingerprint.
    {
      key: { organization_id: 1, fingerprint: 1 },
      unique: true,
      partialFilterExpression: { fingerprint: { $exists: true } },
    },
  ]);
  await remembered.createIndexes([
    { key: { organization_id: 1, entity_id: 1, type: 1 }, unique: true },
    { key: { organization_id: 1, type: 1, value: 1 } },
    { key: { value: 1, entity_id: 1 }, partialFilterExpression: { value: { $exists: true } } },
    { key: { organization_id: 1, type: 1, hash: 1 } },
    {
      key: { organization_id: 1, external_id: 1, created_at: -1, _id: -1 },
      partialFilterExpression: { external_id: { $exists: true } },
    },
  ]);
  await exclusions.createIndexes([
    { key: { uei: 1 }, sparse: true },
    { key: { cage: 1 }, sparse: true },
    { key: { load_id: 1 } },
    { key: { ended_by: 1, _id: 1 } },
  ]);
  await collections.excludedNames.createIndexes([
    { key: { name_keys: 1 } },
    { key: { ended_by: 1, key: 1 } },
    { key: { match_version: 1 } },
  ]);
  await collections.identifierGuards.createIndexes([{ key: { at: 1 }, expireAfterSeconds: GUARD_SECONDS }]);
  await loads.createIndexes([
    { key: { kind: 1, state: 1, cut_date: -1, finished_at: -1 } },
    { key: { kind: 1, started_at: 1 } },
  ]);
  await quarantine.createIndexes([{ key: { load_id: 1, line_number: 1 }, unique: true }]);
  await changes.createIndexes([{ key: { load_id: 1, _id: 1 } }, UNPUBLISHED]);
  await collections.tinReplacements.createIndexes([
    { key: { organization_id: 1, entity_id: 1, created_at: -1, _id: -1 } },
    { key: { unrecorded: 1, _id: 1 }, partialFilterExpression: { unrecorded: { $exists: true } } },
  ]);
  await tinReveals.createIndexes([{ key: { organization_id: 1, at: -1 } }]);
  await createExpiry(db, tinReveals.collectionName, "at", REVEALS_SECONDS);
  await collections.vendors.createIndexes([...vendorIndexes]);
  await collections.vendorMonitors.createIndexes([{ key: { organization_id: 1, entity_id: 1, active: 1 } }]);
  await migrateIdempotency(db);
  await migrateOutbox(db);
  await migrateLeases(db, "registry_publisher");
}
