import type { Collection, Document, Filter } from "mongodb";
import { valueById } from "./by-id.ts";

/**
 * Replaces documents by one command, each only while it is as it was read. Returns whether all of them were replaced; otherwise
 * read them again. `after` must differ from `before` and have its `_id`.
 */
export async function replaceUnchanged<T extends Document & { readonly _id: string }>(
  collection: Collection<T>,
  changes: readonly { readonly before: T; readonly after: T }[],
): Promise<boolean> {
  if (changes.length === 0) return true;
  const ids = changes.map(({ before }) => before._id);
  const own = valueById(ids, changes);
  const next = { $cond: [{ $eq: ["$$ROOT", "$$own.before"] }, "$$own.after", "$$ROOT"] };
  const update = [{ $replaceWith: { $let: { vars: { own }, in: next } } }];
  const filter = { _id: { $in: ids } } as unknown as Filter<T>;
  const { modifiedCount } = await collection.updateMany(filter, update, { hint: { _id: 1 } });
  return modifiedCount === changes.length;
}
