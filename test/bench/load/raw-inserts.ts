import type { Collection, Db, Document } from "mongodb";

const BATCH_SIZE = 1_000;
const COLLECTIONS = ["entities", "entity_snapshots"] as const;

/**
 * Inserts the entities of a load and their snapshots into another database with the same indexes, using only
 * `insertMany`. Returns the seconds that those calls took, without the time to read the documents.
 */
export async function insertRaw(from: Db, to: Db): Promise<{ documents: number; seconds: number }> {
  let documents = 0;
  let seconds = 0;
  const [entities, snapshots] = COLLECTIONS.map((name) => from.collection(name));
  for await (const batch of batchesOf(entities!)) {
    const ids = batch.map(({ _id }) => _id);
    const theirs = await snapshots!.find({ entity_id: { $in: ids } }).toArray();
    const startedAt = performance.now();
    await to.collection(COLLECTIONS[0]).insertMany(batch, { ordered: false });
    await to.collection(COLLECTIONS[1]).insertMany(theirs, { ordered: false });
    seconds += (performance.now() - startedAt) / 1_000;
    documents += batch.length + theirs.length;
  }
  return { documents, seconds };
}

/** Yields batches in the order of the load: ids are ordered by time. */
async function* batchesOf(collection: Collection): AsyncGenerator<Document[]> {
  let batch: Document[] = [];
  for await (const document of collection.find().sort({ _id: 1 }).batchSize(BATCH_SIZE)) {
    batch.push(document);
    if (batch.length < BATCH_SIZE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
