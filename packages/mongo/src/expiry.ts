import { type Db, MongoServerError } from "mongodb";

/**
 * Lets documents of a collection expire so many seconds after the date in a field, also where an earlier version had given
 * them another age.
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
