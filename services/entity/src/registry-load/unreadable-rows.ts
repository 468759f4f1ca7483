import type { ExclusionDocument } from "../model/documents.ts";
import type { QuarantineDocument } from "../model/quarantine.ts";
import type { UnreadableRow } from "./files/exclusion-row.ts";
import type { LoadedFile } from "./files/member.ts";
import { newestBegun, type RunningLoad } from "./load-log.ts";

type Kept = UnreadableRow & NonNullable<QuarantineDocument["row"]>;

/**
 * Records the rows of an exclusions file that can't be read, and returns whether a stored row that the file lacks may be one
 * of them: such a row has not ended. It may be one with its UEI, CAGE or SAM number, or one of which nothing is known, unless
 * it once stood beside it in a file. So an unreadable row that stays in the files holds back only what went missing when it
 * appeared.
 */
export async function recordUnreadable(
  load: RunningLoad<LoadedFile, never>,
  rows: readonly (UnreadableRow & { readonly lineNumber: number })[],
): Promise<(row: ExclusionDocument) => boolean> {
  const kept: Kept[] = [];
  if (rows.length > 0) {
    const { loadId, file } = load;
    const [earlier, numbers] = [await earlierRows(load), await storedNumbers(load, rows)];
    for (const row of rows) {
      const isAnyones = !row.uei && !row.cage && !numbers.has(row.samNumber);
      const begun = { hash: row.hash, since: { load_id: loadId, cut_date: file.cutDate }, is_anyones: isAnyones };
      const known = earlier.get(row.hash) ?? begun;
      await load.quarantine(row.lineNumber, row.reason, known);
      kept.push({ ...row, ...known });
    }
  }
  return (row) => row.ended_by === undefined && kept.some((unreadable) => mayBe(unreadable, row));
}

function mayBe({ since, is_anyones, uei, cage, samNumber }: Kept, row: ExclusionDocument): boolean {
  if (row.load_id === since.load_id || row.last_seen > since.cut_date) return false;
  const isNamed = (text: string | undefined, stored: string | undefined) => Boolean(text) && text === stored;
  return is_anyones || isNamed(uei, row.uei) || isNamed(cage, row.cage) || isNamed(samNumber, row.sam_number);
}

/** Returns what was known of the unreadable rows of the file before, by their hashes. */
async function earlierRows({ collections, loadId }: RunningLoad<LoadedFile, never>) {
  const previous = await newestBegun(collections, "exclusions", loadId);
  const recorded = previous ? await collections.quarantine.find({ load_id: previous._id }).toArray() : [];
  return new Map(recorded.flatMap(({ row }) => (row ? [[row.hash, row] as const] : [])));
}

/** Returns those SAM numbers of the rows that stored rows have, without the rows that this load added. */
async function storedNumbers({ collections, loadId }: RunningLoad<LoadedFile, never>, rows: readonly UnreadableRow[]) {
  const wanted = rows.flatMap(({ samNumber }) => samNumber || []);
  const filter = { sam_number: { $in: wanted }, $nor: [{ changed_by: loadId, before: { $exists: false } }] };
  return new Set(wanted.length > 0 ? await collections.exclusions.distinct("sam_number", filter) : []);
}
