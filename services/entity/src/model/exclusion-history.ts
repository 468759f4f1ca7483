import type { ExclusionDocument, LoadDocument } from "./documents.ts";

/**
 * Returns an exclusion's row as it would be without a load; undefined if that load added it. `previous` is the load
 * before, which had all rows that had not ended. A second call changes nothing.
 */
export function withoutLoad(
  row: ExclusionDocument,
  { _id: withdrawn, cut_date }: Pick<LoadDocument, "_id" | "cut_date">,
  previous: Pick<LoadDocument, "_id" | "cut_date"> | undefined,
): ExclusionDocument | undefined {
  const isChanged = row.changed_by === withdrawn;
  if (isChanged && !row.before && row.first_seen === cut_date) return undefined;
  const { changed_by, ...unattributed } = row;
  const restored = isChanged ? (row.before ?? unattributed) : row;
  const { ended_by, ended_on, ...open } = restored;
  const unended = ended_by === withdrawn ? open : restored;
  if (unended.load_id !== withdrawn) return unended;
  return { ...unended, load_id: previous?._id ?? "", last_seen: previous?.cut_date ?? unended.first_seen };
}
