import { type Db, MongoServerError } from "mongodb";

/**
 * Makes the documents of a collection expire `seconds` after the date in a field. If an earlier version created the index with
 * another number of seconds, the number is changed.
 */
export async function createExpiry(db: Db, collection: string, field: string, seconds: number): Promise<void> {
  const keyPattern = { [field]: 1 } as const;
  try {
    await db.collection(collection).createIndex(keyPattern, { expireAfterSeconds: seconds });
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.codeName !== "IndexOptionsConflict") throw error;
    await db.command({ collMod: collection, index: { keyPattern, expireAfterSeconds: seconds } });
  }
}
