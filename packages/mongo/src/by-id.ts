import type { Document } from "mongodb";

/**
 * Returns an expression for an update of many documents by one command: each document's own value, by the place of its `_id` among
 * `ids`. One update of many costs MongoDB much less than many updates of one.
 */
export function valueById(ids: readonly string[], values: readonly object[]): Document {
  return { $arrayElemAt: [{ $literal: values }, { $indexOfArray: [{ $literal: ids }, "$_id"] }] };
}
