import { inBatches } from "@vvs/batching";
import { inTransaction } from "@vvs/mongo";
import type { ClientSession, Db, Filter } from "mongodb";
import type { EvidenceDocument } from "../documents.ts";
import { bodiesOf, type ObjectStore, type RemovalDocument, removalsOf } from "./bodies.ts";

const DAY_MS = 86_400_000;
const BATCH = 500;

/** How far bodies were looked at, by the time when they were last put. */
interface SweepDocument {
  readonly _id: "bodies";
  readonly swept_to: Date;
}

interface Sweep {
  readonly db: Db;
  readonly objects: ObjectStore | undefined;
  readonly now: Date;
  readonly stopping: AbortSignal;
}

/**
 * Removes the bodies of these that no record names, in the transaction that removes records. A body is kept for a day after it
 * was last put, since its record may not be stored yet. Returns how many were removed.
 */
export async function removeBodies(
  session: ClientSession,
  { db, sha256s, now }: { db: Db; sha256s: readonly string[]; now: Date },
): Promise<number> {
  const bodies = bodiesOf(db);
  const evidence = db.collection<EvidenceDocument>("evidence");
  const naming = [{ $match: { sha256: { $in: [...sha256s] } } }, { $group: { _id: "$sha256" } }];
  const named = new Set(
    (await evidence.aggregate<{ _id: string }>(naming, { session }).toArray()).map(({ _id }) => _id),
  );
  const unnamed = {
    _id: { $in: sha256s.filter((sha256) => !named.has(sha256)) },
    last_put_at: { $lt: new Date(now.getTime() - DAY_MS) },
  };
  const found = await bodies.find(unnamed, { session, projection: { object_key: 1 } }).toArray();
  if (found.length === 0) return 0;
  const keys = found.flatMap(({ object_key }) => object_key ?? []);
  if (keys.length > 0) {
    await removalsOf(db).bulkWrite(
      keys.map((_id) => ({ updateOne: { filter: { _id }, update: { $unset: { put_at: "" } }, upsert: true } })),
      { session },
    );
  }
  return (await bodies.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } }, { session })).deletedCount;
}

/**
 * Removes bodies whose call put them more than a day ago and stored no record, and objects that no body names. It goes on where
 * the last sweep of any replica ended.
 */
export async function removeAbandoned(sweep: Sweep): Promise<void> {
  const { db, now, stopping } = sweep;
  const sweeps = db.collection<SweepDocument>("evidence_sweeps");
  const sweptTo = (swept_to: Date) => sweeps.updateOne({ _id: "bodies" }, { $max: { swept_to } }, { upsert: true });
  const last = await sweeps.findOne({ _id: "bodies" });
  const dayAgo = new Date(now.getTime() - DAY_MS);
  const put = { last_put_at: { $gte: last?.swept_to ?? new Date(0), $lt: dayAgo } };
  const found = bodiesOf(db)
    .find(put, { projection: { last_put_at: 1 }, batchSize: BATCH })
    .sort({ last_put_at: 1 });
  for await (const batch of inBatches(found, BATCH)) {
    if (stopping.aborted) return;
    const sha256s = batch.map(({ _id }) => _id);
    await inTransaction(db.client, (session) => removeBodies(session, { db, sha256s, now }));
    await sweptTo(batch.at(-1)!.last_put_at);
  }
  await sweptTo(dayAgo);
  await removeObjects(sweep);
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
