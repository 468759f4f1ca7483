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

const ROWS_PER_CALL = 500;

/**
 * Writes the stored rows of an exclusions file into another database with the same indexes, in the order in which they were
 * stored, using only `bulkWrite` of replacements with upsert. Returns the seconds that those calls took.
 */
export async function writeRawExclusions(from: Db, to: Db): Promise<{ documents: number; seconds: number }> {
  const rows = await from.collection("exclusions").find().hint({ $natural: 1 }).toArray();
  const target = to.collection("exclusions");
  const startedAt = performance.now();
  for (let at = 0; at < rows.length; at += ROWS_PER_CALL) {
    const batch = rows.slice(at, at + ROWS_PER_CALL);
    await target.bulkWrite(
      batch.map((row) => ({ replaceOne: { filter: { _id: row._id }, replacement: row, upsert: true } })),
    );
  }
  return { documents: rows.length, seconds: (performance.now() - startedAt) / 1_000 };
}
