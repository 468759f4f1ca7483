import type { SecretKey } from "@vvs/config";
import { createIdempotencyStore } from "@vvs/idempotency";
import type { EnvironmentDatabases } from "@vvs/mongo";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { Handlers } from "@vvs/rpc";
import type { MongoClient } from "mongodb";
import { createEntityHandlers } from "./api.ts";
import { createIndexedCandidates, createStoredCandidates } from "./lookup/candidates.ts";
import { createExactLookup } from "./lookup/lookup-exact.ts";
import { createFuzzyLookup } from "./lookup/lookup-fuzzy.ts";
import { collectionsOf } from "./model/documents.ts";
import type { HostedIndex } from "./name-index/host.ts";
import { createEntityStore } from "./store.ts";
import { createFingerprintKeys } from "./tins/tin-fingerprints.ts";
import { createTinVault } from "./tins/tins.ts";
import { createCheckSubjects } from "./vendors/check-subject.ts";
import { createCreation } from "./vendors/create.ts";
import { createExternalIds } from "./vendors/external-ids.ts";
import { createProviderUpdate } from "./vendors/provider-update.ts";
import { createVendorResolver } from "./vendors/vendor.ts";

/** Maximum duration of a creation: the deadline of its callers. */
const IDEMPOTENCY_LEASE_MS = 30_000;

/** Creates the handlers of the service on given databases. */
export function createEntityApplication(options: {
  client: MongoClient;
  databases: EnvironmentDatabases;
  tinKeys: readonly SecretKey[];
  tinHashKeys: readonly SecretKey[];
  sandboxEntityCap: number;
  /** Searches names in memory; without it, MongoDB finds candidates. */
  index?: Pick<HostedIndex, "search">;
  now: () => Date;
}): Handlers<typeof EntityService> {
  const { client, databases, now } = options;
  const collections = { live: collectionsOf(databases.live), sandbox: collectionsOf(databases.sandbox) };
  const store = createEntityStore({ collections });
  const tins = createTinVault({
    sealingKeys: options.tinKeys,
    hashKeys: options.tinHashKeys,
    fingerprintKeys: createFingerprintKeys({ collections, sealingKeys: options.tinKeys }),
  });
  const externalIds = createExternalIds({ client, collections, tins });
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
  return createEntityHandlers({
    store,
    collections,
    creation,
    externalIds,
    resolveVendor: createVendorResolver({ client, collections, store, tins, creation, externalIds, now }),
    lookUpExactly: createExactLookup({ store, tins }),
    lookUpFuzzily: createFuzzyLookup({ store, tins, candidates }),
    checkSubjects: createCheckSubjects({ collections, tins, now }),
    updateFromProvider: createProviderUpdate({ client, collections, store, now }),
    now,
  });
}
