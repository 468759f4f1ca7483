import { type Db, MongoServerError } from "mongodb";

/**
 * Creates the collections that are missing, for migration steps: a transaction that had to create one would conflict
 * with every other that does. Repeatable, and safe beside another migration that creates the same ones.
 */
export async function createCollections(db: Db, names: readonly string[]): Promise<void> {
  const existing = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name));
  for (const name of names) if (!existing.has(name)) await db.createCollection(name).catch(ignoreExisting);
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof MongoServerError) || error.codeName !== "NamespaceExists") throw error;
}
