import type { SecretKey } from "@vvs/config";
import type { IdentifierMap } from "@vvs/identifiers";
import type { Environment, Tenant } from "@vvs/tenant";
import { type AnyBulkWriteOperation, type Binary, type Collection, type Filter, MongoBulkWriteError } from "mongodb";
import type {
  CarriedTinDocument,
  Collections,
  EntityDocument,
  FingerprintKeyDocument,
  RememberedDocument,
  SnapshotDocument,
  TinDocument,
} from "../model/documents.ts";
import { contentText } from "../model/own-entity.ts";
import { openKey, sealKey } from "./tin-fingerprints.ts";
import type { TinHome, TinVault } from "./tins.ts";

/** What a rotation came to in one collection. */
export interface RotationCount {
  /** Now by the newest keys. */
  readonly renewed: number;
  /** Still by others: changed meanwhile, or not to be renewed. A repetition gets the former. */
  readonly left: number;
}

export interface RotationReport {
  readonly carried: RotationCount;
  readonly remembered: RotationCount;
  readonly fingerprintKeys: RotationCount;
  readonly contents: RotationCount;
}

export interface Rotation {
  readonly collections: Collections;
  readonly environment: Environment;
  readonly tins: TinVault;
  readonly sealingKeys: readonly SecretKey[];
  /** Documents that are read and written at once. */
  readonly batchSize: number;
  /** Ends the rotation after the batch at hand. */
  readonly stopping: AbortSignal;
  /** A document that can't be renewed: its collection, its id, why. */
  readonly onFault: (collection: string, id: string, fault: string) => void;
}

/**
 * Brings everything that TIN keys sealed or hashed in one environment to the newest keys, in small batches while the
 * service runs, whose look-ups find a TIN under any key of its rings. What is by the newest keys is passed over, so that
 * a rotation that was ended goes on where it was; what another call writes meanwhile is never overwritten.
 */
export async function rotateTins(rotation: Rotation): Promise<RotationReport> {
  return {
    fingerprintKeys: await rotateFingerprintKeys(rotation),
    carried: await rotateCarried(rotation),
    remembered: await rotateRemembered(rotation),
    contents: await rotateContents(rotation),
  };
}

/** One write that renews a document only where it still is what was read; undefined where it can't be renewed. */
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

async function rotateCarried(rotation: Rotation): Promise<RotationCount> {
  const { carriedTins } = rotation.collections;
  return rotateCollection(rotation, carriedTins, outstandingTins(rotation), async () => (document) => {
    const { _id, organization_id } = document;
    const renewed = renew(rotation, organization_id, { collection: "entity_identifiers", id: _id }, document);
    return { updateOne: { filter: { _id, organization_id, ...asStored(document) }, update: { $set: renewed } } };
  });
}

async function rotateRemembered(rotation: Rotation): Promise<RotationCount> {
  const { remembered } = rotation.collections;
  const outstanding: Filter<RememberedDocument> = { type: "tin", ...outstandingTins(rotation) };
  return rotateCollection(rotation, remembered, outstanding, async () => (document) => {
    const { _id, organization_id, sealed, hash, last4 } = document;
    if (!sealed || !hash || !last4) return undefined;
    const stored = { ...document, sealed, hash, last4 };
    const renewed = renew(rotation, organization_id, { collection: "remembered_identifiers", id: _id }, stored);
    return { updateOne: { filter: { _id, organization_id, ...asStored(stored) }, update: { $set: renewed } } };
  });
}

/**
 * The hash of a creation's content is over its TIN too. The content is made again of the first snapshot and the TIN that
 * the entity carries, and is right where one of the ring's keys gives the stored hash.
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
      const stored = [content_hash].flat();
      if (!hashes.some((hash) => stored.some((one) => isSame(hash, one)))) return undefined;
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

/** Renews what is outstanding, batch by batch in the order of ids; `prepare` reads what a batch's renewals need. */
async function rotateCollection<D extends { _id: string }>(
  { batchSize, stopping, onFault }: Rotation,
  collection: Collection<D>,
  outstanding: Filter<D>,
  prepare: (batch: readonly D[]) => Promise<Renewal<D>>,
): Promise<RotationCount> {
  let renewed = 0;
  let after = "";
  const next = () =>
    collection
      .find({ $and: [outstanding, { _id: { $gt: after } }] } as Filter<D>)
      .sort({ _id: 1 })
      .limit(batchSize)
      .toArray() as Promise<D[]>;
  for (let batch = await next(); batch.length > 0 && !stopping.aborted; batch = await next()) {
    after = batch.at(-1)!._id;
    const renewal = await prepare(batch);
    const tell = (id: string, fault: string) => onFault(collection.collectionName, id, fault);
    const writes = batch.flatMap((document) => {
      try {
        const write = renewal(document);
        if (!write) tell(document._id, "it can't be made again of what is stored");
        return write ?? [];
      } catch (error) {
        tell(document._id, error instanceof Error ? error.message : "it does not open");
        return [];
      }
    });
    if (writes.length > 0) renewed += await writeAll(collection, writes, tell);
  }
  return { renewed, left: await collection.countDocuments(outstanding) };
}

/** Returns how many were written; one that another document's unique index refuses holds up none of the rest. */
async function writeAll<D extends { _id: string }>(
  collection: Collection<D>,
  writes: readonly AnyBulkWriteOperation<D>[],
  tell: (id: string, fault: string) => void,
): Promise<number> {
  try {
    return (await collection.bulkWrite([...writes], { ordered: false })).modifiedCount;
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failed = [error.writeErrors].flat();
    for (const { index, code } of failed) {
      const write = writes[index] as { updateOne: { filter: { _id: string } } };
      tell(write.updateOne.filter._id, `it could not be written (MongoDB error ${code})`);
    }
    return error.result.modifiedCount;
  }
}

function outstandingTins({ tins: { newest } }: Rotation) {
  return { $or: [{ "sealed.key_id": { $ne: newest.sealingKeyId } }, { hash_key_id: { $ne: newest.hashKeyId } }] };
}

function renew({ tins, environment }: Rotation, organizationId: string, home: TinHome, stored: TinDocument) {
  return tins.renew({ organizationId, environment }, home, stored);
}

/** Another TIN, or the same sealed again, has another box. */
function asStored({ sealed, hash }: Pick<TinDocument, "sealed" | "hash">) {
  return { "sealed.box": sealed.box, hash };
}

function isSame(one: Binary, other: Binary): boolean {
  return Buffer.from(one.value()).equals(other.value());
}
