import { inBatches } from "@vvs/batching";
import type { SecretKey } from "@vvs/config";
import type { IdentifierMap } from "@vvs/identifiers";
import type { Environment, Tenant } from "@vvs/tenant";
import { type AnyBulkWriteOperation, type Collection, type Filter, MongoBulkWriteError } from "mongodb";
import type {
  CarriedTinDocument,
  Collections,
  EntityDocument,
  FingerprintKeyDocument,
  RememberedDocument,
  SnapshotDocument,
} from "../model/documents.ts";
import { contentText } from "../model/own-entity.ts";
import { openKey, sealKey } from "./tin-fingerprints.ts";
import { isSameBinary, type TinHome, type TinVault } from "./tins.ts";

/** The result of a rotation in one collection. */
interface RotationCount {
  readonly renewed: number;
  /** Documents that older keys still seal or hash: they changed meanwhile, or can't be renewed. Another run gets the former. */
  readonly left: number;
}

export type RotationReport = Awaited<ReturnType<typeof rotateTins>>;

interface Rotation {
  readonly collections: Collections;
  readonly environment: Environment;
  readonly tins: TinVault;
  readonly sealingKeys: readonly SecretKey[];
  /** Number of documents that are read and written together. */
  readonly batchSize: number;
  /** Ends the rotation after the current batch. */
  readonly stopping: AbortSignal;
  /** Called for each document that can't be renewed, with its collection, its id and the reason. */
  readonly onFault: (collection: string, id: string, fault: string) => void;
}

/**
 * Renews everything that TIN keys sealed or hashed in one environment with the newest keys, in small batches while the
 * service is running, whose look-ups find a TIN under any key of its rings. Skips what the newest keys already sealed, so
 * that a rotation that was stopped can continue. Never overwrites what another call writes meanwhile.
 */
export async function rotateTins(rotation: Rotation) {
  return {
    fingerprintKeys: await rotateFingerprintKeys(rotation),
    carried: await rotateStoredTins(rotation, "carriedTins", {}),
    remembered: await rotateStoredTins(rotation, "remembered", { type: "tin" }),
    contents: await rotateContents(rotation),
  };
}

/** A write that renews a document only if it is still as it was read; undefined if the document can't be renewed. */
type Renewal<D extends { _id: string }> = (document: D) => AnyBulkWriteOperation<D> | undefined;

async function rotateFingerprintKeys(rotation: Rotation): Promise<RotationCount> {
  const { collections, environment, tins, sealingKeys } = rotation;
  const outstanding: Filter<FingerprintKeyDocument> = { "sealed.key_id": { $ne: tins.newest.sealingKeyId } };
  return rotateCollection(rotation, collections.fingerprintKeys, outstanding, async () => ({ _id, sealed }) => {
    const tenant = { organizationId: _id, environment };
    const renewed = sealKey(sealingKeys, tenant, openKey(sealingKeys, tenant, sealed));
    return { updateOne: { filter: { _id, "sealed.box": sealed.box }, update: { $set: { sealed: renewed } } } };
  });
}

async function rotateStoredTins(
  rotation: Rotation,
  name: "carriedTins" | "remembered",
  filter: Filter<RememberedDocument>,
): Promise<RotationCount> {
  const { collections, environment, tins } = rotation;
  const collection = collections[name] as unknown as Collection<RememberedDocument>;
  const { sealingKeyId, hashKeyId } = tins.newest;
  const byOlder = [{ "sealed.key_id": { $ne: sealingKeyId } }, { hash_key_id: { $ne: hashKeyId } }];
  return rotateCollection(rotation, collection, { ...filter, $or: byOlder }, async () => (document) => {
    const { _id, organization_id, sealed, hash, fingerprint } = document;
    if (!sealed || !hash || !fingerprint) return undefined;
    const home = { collection: collection.collectionName as TinHome["collection"], id: _id };
    const tenant = { organizationId: organization_id, environment };
    const renewed = tins.renew(tenant, home, { sealed, fingerprint });
    // Another TIN, or the same sealed again, has another box.
    return {
      updateOne: { filter: { _id, organization_id, "sealed.box": sealed.box, hash }, update: { $set: renewed } },
    };
  });
}

/**
 * Renews the hashes of creations' contents, which include the TIN. The content is recomputed from the first snapshot and
 * the TIN that the entity carries; it is right if one of the ring's keys gives the stored hash.
 */
async function rotateContents(rotation: Rotation): Promise<RotationCount> {
  const { collections, environment, tins } = rotation;
  const { hashKeyId } = tins.newest;
  const outstanding: Filter<EntityDocument> = {
    organization_id: { $gt: "" },
    content_hash: { $exists: true },
    $or: [{ content_hash_key_id: { $ne: hashKeyId } }, { "content_hash.1": { $exists: true } }],
  };
  return rotateCollection(rotation, collections.entities, outstanding, async (batch) => {
    const ids = batch.map(({ _id }) => _id);
    const [snapshots, carried] = await Promise.all([
      collections.snapshots.find({ entity_id: { $in: ids }, version: 1 }).toArray(),
      collections.carriedTins.find({ _id: { $in: ids } }).toArray(),
    ]);
    const firstOf = new Map(snapshots.map((snapshot) => [snapshot.entity_id, snapshot]));
    const tinOf = new Map(carried.map((document) => [document._id, document]));
    return ({ _id, organization_id, content_hash }) => {
      const tenant: Tenant = { organizationId: organization_id!, environment };
      const first = firstOf.get(_id);
      if (!first || !content_hash) return undefined;
      const hashes = tins.contentHashes(tenant, creationText(tins, tenant, first, tinOf.get(_id)));
      if (!hashes.some((hash) => content_hash.some((one) => isSameBinary(hash, one)))) return undefined;
      return {
        updateOne: {
          filter: { _id, organization_id, content_hash },
          update: { $set: { content_hash: [hashes[0]!], content_hash_key_id: hashKeyId }, $inc: { revision: 1 } },
        },
      };
    };
  });
}

function creationText(
  tins: TinVault,
  tenant: Tenant,
  { entity }: SnapshotDocument,
  carried: CarriedTinDocument | undefined,
): string {
  const { tin, ...shown } = entity.identifiers;
  const home: TinHome = { collection: "entity_identifiers", id: entity.id };
  const own = tin !== undefined && carried ? { tin: tins.open(tenant, home, carried.sealed) } : {};
  const identifiers: IdentifierMap = { ...shown, ...own };
  return contentText({ legalName: entity.legal_name, identifiers, address: entity.addresses[0] });
}

/** Renews the outstanding documents in batches, in the order of ids; `prepare` reads what a batch's renewals need. */
async function rotateCollection<D extends { _id: string }>(
  { batchSize, stopping, onFault }: Rotation,
  collection: Collection<D>,
  outstanding: Filter<D>,
  prepare: (batch: readonly D[]) => Promise<Renewal<D>>,
): Promise<RotationCount> {
  let renewed = 0;
  const found = collection.find<D>(outstanding, { sort: { _id: 1 }, hint: { _id: 1 }, batchSize });
  for await (const batch of inBatches(found, batchSize)) {
    if (stopping.aborted) break;
    const renewal = await prepare(batch);
    const report = (id: string, fault: string) => onFault(collection.collectionName, id, fault);
    const writes = batch.flatMap((document) => {
      try {
        const write = renewal(document);
        if (!write) report(document._id, "it can't be recomputed from what is stored");
        return write ?? [];
      } catch (error) {
        report(document._id, error instanceof Error ? error.message : "it can't be opened");
        return [];
      }
    });
    if (writes.length > 0) renewed += await writeAll(collection, writes, report);
  }
  return { renewed, left: await collection.countDocuments(outstanding) };
}

/** Returns how many were written. A write that a unique index refuses does not stop the others. */
async function writeAll<D extends { _id: string }>(
  collection: Collection<D>,
  writes: readonly AnyBulkWriteOperation<D>[],
  report: (id: string, fault: string) => void,
): Promise<number> {
  try {
    return (await collection.bulkWrite([...writes], { ordered: false })).modifiedCount;
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failed = [error.writeErrors].flat();
    for (const { index, code } of failed) {
      const write = writes[index] as { updateOne: { filter: { _id: string } } };
      report(write.updateOne.filter._id, `it could not be written (MongoDB error ${code})`);
    }
    return error.result.modifiedCount;
  }
}
