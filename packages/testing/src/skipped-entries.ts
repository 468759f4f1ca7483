import type { Collection, Document } from "mongodb";

const WAYS = ["next", "prev"] as const;

/**
 * Returns how many entries of a collection and of its indexes, or of one index, reads and writes have walked over since it was created.
 * Nearly all of them are deleted ones, which MongoDB keeps for five minutes.
 */
export async function skippedEntries<T extends Document>(
  collection: Pick<Collection<T>, "aggregate">,
  index?: string,
): Promise<number> {
  const [stats] = await collection.aggregate([{ $collStats: { storageStats: {} } }]).toArray();
  const { wiredTiger, indexDetails } = stats!.storageStats;
  const walked = index ? [indexDetails[index]] : [wiredTiger, ...Object.values<typeof wiredTiger>(indexDetails)];
  return walked
    .flatMap(({ cursor }) => WAYS.map((way) => cursor[`Total number of entries skipped by cursor ${way} calls`]))
    .reduce((sum: number, each: number) => sum + each, 0);
}
