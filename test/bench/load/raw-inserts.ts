import { inBatches } from "@vvs/batching";
import type { Db } from "mongodb";

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
  // In the order of the load: ids are ordered by time.
  for await (const batch of inBatches(entities!.find().sort({ _id: 1 }).batchSize(BATCH_SIZE), BATCH_SIZE)) {
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

/** Where a load of exclusions writes its rows: those with an identifier, and those with only a name. */
export const EXCLUSION_ROWS = ["exclusions", "excluded_names"] as const;

/** Number of rows, and of changed entities, that a load of exclusions writes together. */
const ROWS_AT_ONCE = 1_000;

/**
 * Writes what the load of an exclusions file wrote into another database that has its entities as they were before, and the
 * same indexes: inserts the rows in their order and the snapshots, and replaces the changed entities. Returns the seconds
 * that those calls took.
 */
export async function writeRawExclusions(from: Db, to: Db, fileName: string) {
  const totals = { documents: 0, seconds: 0 };
  const write = async (documents: number, work: () => Promise<unknown>) => {
    const startedAt = performance.now();
    await work();
    totals.seconds += (performance.now() - startedAt) / 1_000;
    totals.documents += documents;
  };
  for (const name of EXCLUSION_ROWS) {
    const rows = from.collection(name).find().hint({ $natural: 1 });
    for await (const batch of inBatches(rows.batchSize(ROWS_AT_ONCE), ROWS_AT_ONCE)) {
      await write(batch.length, () => to.collection(name).insertMany(batch));
    }
  }
  const made = from.collection("entity_snapshots").find({ actor: `registry:${fileName}` });
  for await (const snapshots of inBatches(made.batchSize(ROWS_AT_ONCE), ROWS_AT_ONCE)) {
    const ids = snapshots.map(({ entity_id }) => entity_id);
    const entities = await from
      .collection("entities")
      .find({ _id: { $in: ids } })
      .toArray();
    const replacements = entities.map((replacement) => ({
      replaceOne: { filter: { _id: replacement._id }, replacement },
    }));
    await write(entities.length, () => to.collection("entities").bulkWrite(replacements, { ordered: false }));
    await write(snapshots.length, () => to.collection("entity_snapshots").insertMany(snapshots));
  }
  return totals;
}
