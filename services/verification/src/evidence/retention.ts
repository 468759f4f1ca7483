import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@vvs/logging";
import type { Collection, Db } from "mongodb";
import type { EvidenceDocument } from "../documents.ts";
import { bodiesOf, type ObjectStore } from "./bodies.ts";

const DAY_MS = 86_400_000;
const SWEEP_EVERY_MS = 3_600_000;
const BATCH = 1_000;

/** An object that nothing names any more, or will not once its body's document is gone. */
interface RemovalDocument {
  /** Its key. */
  readonly _id: string;
  readonly sha256: string;
}

/** The day before which evidence is expired; undefined where it is kept for ever (0 days). */
export function expiryOf(retentionDays: number, now: Date): Date | undefined {
  return retentionDays === 0 ? undefined : new Date(now.getTime() - retentionDays * DAY_MS);
}

/**
 * Removes one environment's evidence made before `expiry`: records first, and then the bodies that no record names. A
 * body is spared for another day after it was last put, for the record that is on its way.
 */
export async function removeExpired(options: {
  db: Db;
  objects: ObjectStore | undefined;
  expiry: Date;
  stopping: AbortSignal;
}): Promise<{ records: number; bodies: number }> {
  const { db, expiry, objects, stopping } = options;
  const evidence = db.collection<EvidenceDocument>("evidence");
  const removals = db.collection<RemovalDocument>("evidence_removals");
  const records = await removeRecords(evidence, expiry, stopping);
  let removed = 0;
  const lastPut = { last_put_at: { $lt: new Date(expiry.getTime() - DAY_MS) } };
  for await (const { _id, object_key } of bodiesOf(db).find(lastPut, { projection: { object_key: 1 } })) {
    if (stopping.aborted) break;
    if (await evidence.findOne({ sha256: _id }, { projection: { _id: 1 } })) continue;
    if (object_key) await removals.updateOne({ _id: object_key }, { $set: { sha256: _id } }, { upsert: true });
    removed += (await bodiesOf(db).deleteOne({ _id, ...lastPut })).deletedCount;
  }
  if (objects) await removeObjects(db, removals, objects, stopping);
  return { records, bodies: removed };
}

async function removeRecords(
  evidence: Collection<EvidenceDocument>,
  expiry: Date,
  stopping: AbortSignal,
): Promise<number> {
  let removed = 0;
  while (!stopping.aborted) {
    const batch = await evidence
      .find({ created_at: { $lt: expiry } }, { projection: { _id: 1 } })
      .limit(BATCH)
      .toArray();
    if (batch.length === 0) break;
    removed += (await evidence.deleteMany({ _id: { $in: batch.map(({ _id }) => _id) } })).deletedCount;
  }
  return removed;
}

/** Also what an earlier sweep had no time for, or found the store away. */
async function removeObjects(
  db: Db,
  removals: Collection<RemovalDocument>,
  objects: ObjectStore,
  stopping: AbortSignal,
): Promise<void> {
  for await (const { _id: key, sha256 } of removals.find()) {
    if (stopping.aborted) return;
    const isNamed = await bodiesOf(db).findOne({ _id: sha256, object_key: key }, { projection: { _id: 1 } });
    if (!isNamed) await objects.remove(key);
    await removals.deleteOne({ _id: key });
  }
}

/** Removes expired evidence every hour until `stopping` aborts. A sweep that fails is made up for by the next one. */
export async function keepRetention(options: {
  databases: readonly Db[];
  objects: ObjectStore | undefined;
  retentionDays: number;
  now: () => Date;
  logger: Logger;
  stopping: AbortSignal;
}): Promise<void> {
  const { databases, objects, retentionDays, now, logger, stopping } = options;
  while (!stopping.aborted) {
    const expiry = expiryOf(retentionDays, now());
    if (!expiry) return;
    for (const db of databases) {
      try {
        const removed = await removeExpired({ db, objects, expiry, stopping });
        if (removed.records + removed.bodies > 0) logger.info({ ...removed, expiry }, "expired evidence is removed");
      } catch (err) {
        if (!stopping.aborted)
          logger.warn({ err }, "expired evidence could not be removed; it is tried again in an hour");
      }
    }
    await wait(SWEEP_EVERY_MS, undefined, { signal: stopping, ref: false }).catch(() => undefined);
  }
}
