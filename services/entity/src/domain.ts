import type { SecretKey } from "@vvs/config";
import { createIdempotencyStore } from "@vvs/idempotency";
import type { EnvironmentDatabases } from "@vvs/mongo";
import { perEnvironment } from "@vvs/tenant";
import type { MongoClient } from "mongodb";
import { createEntityHandlers } from "./api.ts";
import { createIndexedCandidates, createStoredCandidates } from "./lookup/candidates.ts";
import { createExactLookup } from "./lookup/lookup-exact.ts";
import { createFuzzyLookup } from "./lookup/lookup-fuzzy.ts";
import { collectionsOf } from "./model/documents.ts";
import type { HostedIndex } from "./name-index/host.ts";
import { createSeenEntities } from "./seen-entities.ts";
import { createEntityStore } from "./store.ts";
import { createFingerprintKeys } from "./tins/tin-fingerprints.ts";
import { createTinVault } from "./tins/tins.ts";
import { createVendorListPart } from "./vendor-list/vendor-list-api.ts";
import { createVendorRecords } from "./vendor-list/vendor-records.ts";
import { createVendorStore } from "./vendor-list/vendor-store.ts";
import { createCheckSubjects } from "./vendors/check-subject.ts";
import { createCreation } from "./vendors/create.ts";
import { createExternalIds } from "./vendors/external-ids.ts";
import { createProviderUpdate } from "./vendors/provider-update.ts";
import { createRememberedTins } from "./vendors/remembered-tins.ts";
import { createTinReplacements } from "./vendors/tin-replacements.ts";
import { createVendorResolver } from "./vendors/vendor.ts";

/** Maximum duration of a creation: the deadline of its callers. */
const IDEMPOTENCY_LEASE_MS = 30_000;

/** Creates the handlers of the service's RPCs and records on given databases. */
export function createEntityApplication(options: {
  client: MongoClient;
  databases: EnvironmentDatabases;
  tinKeys: readonly SecretKey[];
  tinHashKeys: readonly SecretKey[];
  sandboxEntityCap: number;
  /** Searches names in memory; without it, MongoDB finds candidates. */
  index?: Pick<HostedIndex, "search">;
  now: () => Date;
}) {
  const { client, databases, now } = options;
  const collections = { live: collectionsOf(databases.live), sandbox: collectionsOf(databases.sandbox) };
  const store = createEntityStore({ collections });
  const tins = createTinVault({
    sealingKeys: options.tinKeys,
    hashKeys: options.tinHashKeys,
    fingerprintKeys: createFingerprintKeys({ collections, sealingKeys: options.tinKeys }),
  });
  const externalIds = createExternalIds({ client, collections, tins });
  const rememberedTins = createRememberedTins({ collections, store, tins, externalIds, now });
  const idempotencyIn = (environment: "live" | "sandbox") =>
    createIdempotencyStore({ db: databases[environment], leaseMs: IDEMPOTENCY_LEASE_MS, now });
  const creation = createCreation({
    client,
    collections,
    store,
    tins,
    externalIds,
    sandboxEntityCap: options.sandboxEntityCap,
    idempotency: { live: idempotencyIn("live"), sandbox: idempotencyIn("sandbox") },
    now,
  });
  const candidates = options.index
    ? createIndexedCandidates({ store, index: options.index, now })
    : createStoredCandidates({ store });
  const seenBy = createSeenEntities({ store, now });
  const checkSubjects = createCheckSubjects({ collections, store, tins, now });
  const vendors = createVendorStore({ collections });
  const handlers = createEntityHandlers({
    store,
    seenBy,
    collections,
    creation,
    externalIds,
    resolveVendor: createVendorResolver({
      client,
      collections,
      store,
      tins,
      creation,
      externalIds,
      rememberedTins,
      checkSubjects,
      now,
    }),
    tins,
    rememberedTins,
    tinReplacements: createTinReplacements({ collections }),
    lookUpExactly: createExactLookup({ store, tins }),
    lookUpFuzzily: createFuzzyLookup({ store, tins, candidates }),
    checkSubjects,
    updateFromProvider: createProviderUpdate({ client, collections, store, now }),
    now,
  });
  return {
    handlers,
    beside: [createVendorListPart({ store, vendors, seenBy, now })],
    records: perEnvironment((environment) =>
      createVendorRecords({ environment, entities: collections[environment].entities, vendors }),
    ),
  };
}
