import { inTransaction } from "@vvs/mongo";
import type { Collection, Db, Filter } from "mongodb";
import type { EvidenceDocument } from "../documents.ts";
import { bodiesOf, type ObjectStore, type RemovalDocument, removalsOf } from "./bodies.ts";

const DAY_MS = 86_400_000;
const BATCH = 1_000;

interface Sweep {
  readonly db: Db;
  readonly objects: ObjectStore | undefined;
  readonly expiry: Date | undefined;
  readonly now: Date;
  readonly stopping: AbortSignal;
}

/**
 * Removes one environment's evidence from before `expiry`: first records, then bodies that no record names. A body is kept
 * for another day after it was last stored, since its record may not be stored yet. Without `expiry`, only removes
 * objects that no body names.
 */
export async function removeExpired(sweep: Sweep): Promise<{ records: number; bodies: number }> {
  const { db, expiry, stopping } = sweep;
  const records = expiry ? await removeRecords(db.collection<EvidenceDocument>("evidence"), expiry, stopping) : 0;
  const bodies = expiry ? await removeBodies(db, expiry, stopping) : 0;
  await removeObjects(sweep);
  return { records, bodies };
}

async function removeBodies(db: Db, expiry: Date, stopping: AbortSignal): Promise<number> {
  const evidence = db.collection<EvidenceDocument>("evidence");
  const bodies = bodiesOf(db);
  let removed = 0;
  const lastPut = { last_put_at: { $lt: new Date(expiry.getTime() - DAY_MS) } };
  for await (const { _id, object_key } of bodies.find(lastPut, { projection: { object_key: 1 } })) {
    if (stopping.aborted) break;
    if (await evidence.findOne({ sha256: _id }, { projection: { _id: 1 } })) continue;
    removed += await inTransaction(db.client, async (session) => {
      const { deletedCount } = await bodies.deleteOne({ _id, ...lastPut }, { session });
      if (deletedCount === 1 && object_key)
        await removalsOf(db).updateOne({ _id: object_key }, { $unset: { put_at: "" } }, { upsert: true, session });
      return deletedCount;
    });
  }
  return removed;
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

/**
 * Removes objects, also those that an earlier sweep left because it ended early or the store was unavailable. An object
 * whose body may still be stored is left for a day.
 */
async function removeObjects({ db, objects, now, stopping }: Sweep): Promise<void> {
  if (!objects) return;
  const removals = removalsOf(db);
  const abandoned: Filter<RemovalDocument> = { put_at: { $not: { $gte: new Date(now.getTime() - DAY_MS) } } };
  for await (const { _id: key } of removals.find(abandoned)) {
    if (stopping.aborted) return;
    // Without this field the note can no longer be exchanged for a body that names the object: no body ever will.
    const { matchedCount } = await removals.updateOne({ _id: key }, { $unset: { put_at: "" } });
    if (matchedCount === 0) continue;
    await objects.remove(key);
    await removals.deleteOne({ _id: key });
  }
}
