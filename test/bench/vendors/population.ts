import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { newId } from "@vvs/ids";
import { addDays, registryDay } from "@vvs/registration";
import { MongoClient } from "mongodb";
import type { Product } from "../../../deploy/local/product.ts";
import { type Collections, collectionsOf, type EntityDocument } from "../../../services/entity/src/model/documents.ts";
import { externalIdKey } from "../../../services/entity/src/store.ts";
import {
  newVendor,
  noteArchived,
  noteMonitors,
  noteVerification,
} from "../../../services/entity/src/vendor-list/listed-vendor.ts";
import { createVendorStore } from "../../../services/entity/src/vendor-list/vendor-store.ts";
import { createOrganization, type TestOrganization } from "../../support/organization.ts";
import { startBenchProduct } from "../bench-product.ts";
import type { RowBench } from "../benchmark.ts";
import { extractOf, nameModelOf } from "../registry/extract.ts";

/** An organization, with that number of vendors in its list in live. */
export interface Population extends TestOrganization {
  readonly vendors: number;
}

type Named = Pick<EntityDocument, "_id" | "legal_name" | "created_at">;

const SEED = 1;
const BATCH = 5_000;
const DAY_MS = 86_400_000;

/** Starts the whole product with a made-up registry of `size` entities; returns it with entity's collections of live. */
export async function startWithRegistry(
  bench: RowBench,
  size: number,
): Promise<{ product: Product; collections: Collections }> {
  const { folder, servers, prefix, onClose } = bench;
  const registry = join(folder, "registry.dat");
  const names = await nameModelOf(SEED);
  const rows = extractOf({ seed: SEED, size, names, cutDate: new Date(Date.now() - DAY_MS) });
  await pipeline(Readable.from(rows), createWriteStream(registry));
  const product = await startBenchProduct(bench, { registry, environment: {} });
  const client = await new MongoClient(servers.mongodbUri).connect();
  onClose(() => client.close());
  return { product, collections: collectionsOf(client.db(`${prefix}entity_live`)) };
}

/** Creates an organization with that many vendors of the registry, spread over it, each with the organization's number. */
export async function populate(
  { product, collections }: { product: Product; collections: Collections },
  vendors: number,
): Promise<Population> {
  const organization = await createOrganization({ product });
  const tenant = { organizationId: organization.id, environment: "live" } as const;
  const registry = await collections.entities.countDocuments({ organization_id: null });
  const every = Math.floor(registry / vendors);
  if (every < 1) throw new Error(`the registry has only ${registry} entities`);
  const now = new Date();
  const batch: Named[] = [];
  const store = createVendorStore({ collections: { live: collections, sandbox: collections } });
  let [read, filled] = [0, 0];
  const fill = async () => {
    const updates = batch.flatMap(({ _id: entityId, legal_name }, index) =>
      changesOf(filled + index, now).map((change) => ({ tenant, entityId, legal_name, change })),
    );
    await store.update("live", updates, async (unlisted) =>
      unlisted.map(({ entityId, legal_name }) => newVendor(tenant, entityId, legal_name)),
    );
    const numbers = batch.map(({ _id: entity_id, created_at }, index) => ({
      _id: externalIdKey(tenant, entity_id),
      organization_id: tenant.organizationId,
      entity_id,
      type: "external_id" as const,
      external_id: `V-${filled + index}`,
      created_at,
    }));
    await collections.remembered.insertMany(numbers);
    filled += batch.length;
    batch.length = 0;
  };
  const found = collections.entities.find({ organization_id: null }, { sort: { _id: 1 } });
  for await (const entity of found.project<Named>({ legal_name: 1, created_at: 1 })) {
    if (read++ % every === 0 && filled + batch.length < vendors) batch.push(entity);
    if (batch.length === BATCH) await fill();
  }
  if (batch.length > 0) await fill();
  return { ...organization, vendors: filled };
}

/**
 * Returns the changes of a vendor. Of each hundred in a row, every filter of the dashboard finds at least 20: a fifth is
 * archived, half of the others is monitored, and the dates of expiration and of the last check are spread.
 */
function changesOf(index: number, now: Date) {
  const isExcluded = index % 4 === 1;
  const isFailed = isExcluded || index % 3 === 0;
  const answeredAt = new Date(now.getTime() - (((index * 61 + 7) % 100) * 0.6 + 0.1) * DAY_MS - (index % DAY_MS));
  const status = isFailed ? ("fail" as const) : ("pass" as const);
  const facts = {
    registration_status: isExcluded ? "debarred" : "active",
    expiration_date: addDays(registryDay(now), expiresIn((index * 37 + 11) % 100)),
  };
  const registration = {
    check: "sam_registration" as const,
    status,
    reason: isExcluded ? "excluded" : "",
    facts,
    madeAt: answeredAt,
  };
  const at = new Date(answeredAt.getTime() + 1);
  const unanswered = { ...registration, status: "error" as const, reason: "providers_failed", facts: {}, madeAt: at };
  return [
    noteVerification({ verificationId: newId("ver", answeredAt), at: answeredAt, results: [registration] }, ""),
    ...(index % 4 === 2 ? [noteVerification({ verificationId: newId("ver", at), at, results: [unanswered] }, "")] : []),
    noteMonitors(index % 2),
    ...(index % 5 === 0 ? [noteArchived({ at: now, by: "usr_bench" })] : []),
  ];
}

/** Returns in how many days a registration ends, for 0–99: 30 have ended, 30 end within 30 days, 20 within 60, 10 within 90. */
function expiresIn(percent: number): number {
  if (percent < 30) return -1 - percent;
  if (percent < 60) return percent - 30;
  if (percent < 80) return 31 + (percent - 60);
  if (percent < 90) return 61 + (percent - 80);
  return 100 + percent;
}
