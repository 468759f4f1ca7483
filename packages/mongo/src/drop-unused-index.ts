import { type Collection, MongoServerError } from "mongodb";

/** Drops an index that only earlier versions used; does nothing where there is none. */
export async function dropUnusedIndex(collection: Pick<Collection, "dropIndex">, name: string): Promise<void> {
  await collection.dropIndex(name).catch((error: unknown) => {
    if (!(error instanceof MongoServerError && error.codeName === "IndexNotFound")) throw error;
  });
}
