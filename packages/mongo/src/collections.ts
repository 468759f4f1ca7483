import { type Collection, type Db, MongoServerError } from "mongodb";

/**
 * Creates the collections that are missing. Migration steps do this because transactions that create the same
 * collection conflict with each other. It may run again, and at the same time as another migration.
 */
export async function createCollections(db: Db, names: readonly string[]): Promise<void> {
  const existing = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name));
  for (const name of names) if (!existing.has(name)) await db.createCollection(name).catch(ignoreExisting);
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof MongoServerError) || error.codeName !== "NamespaceExists") throw error;
}

/** Drops an index, unless it is gone already. */
export async function dropIndex(collection: Pick<Collection, "dropIndex">, name: string): Promise<void> {
  try {
    await collection.dropIndex(name);
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.codeName !== "IndexNotFound") throw error;
  }
}
