import { isDeepStrictEqual } from "node:util";
import type { AnyBulkWriteOperation } from "mongodb";
import type { ExclusionDocument, LoadDocument } from "../model/documents.ts";
import { withoutLoad } from "../model/exclusion-history.ts";
import { guardIdentifiers, newestLoad } from "../model/exclusions.ts";
import type { LoadTarget } from "./commit.ts";
import { withdrawNames } from "./excluded-names/load-names.ts";
import { recordRemembering, refreshEntities, storedBatches } from "./exclusion-effects.ts";

/** Restores the rows that a load of exclusions wrote, and their entities; continues an earlier run that was killed. */
export async function withdrawExclusions(target: LoadTarget, load: LoadDocument) {
  const { collections, transact } = target;
  const counts = { rows: 0, entities: 0, names: 0 };
  const previous = await newestLoad(collections, "exclusions");
  const written = { $or: [{ load_id: load._id }, { changed_by: load._id }, { ended_by: load._id }] };
  for await (const rows of storedBatches(collections, written)) {
    const writes: AnyBulkWriteOperation<ExclusionDocument>[] = [];
    const different: ExclusionDocument[] = [];
    for (const row of rows) {
      const before = withoutLoad(row, load, previous);
      if (before?._id !== row._id) writes.push({ deleteOne: { filter: { _id: row._id } } });
      if (before) writes.push({ replaceOne: { filter: { _id: before._id }, replacement: before, upsert: true } });
      const onlySeen = { ...row, load_id: before?.load_id, last_seen: before?.last_seen };
      if (!isDeepStrictEqual(onlySeen, before)) different.push(row, ...(before ? [before] : []));
    }
    // In one transaction: a run that was killed between the two would not find the rows again.
    counts.entities += await transact(async (session) => {
      await guardIdentifiers(collections, session, different);
      await collections.exclusions.bulkWrite(writes, { session });
      await recordRemembering(target, session, different, "changed");
      return refreshEntities({ ...target, transact: (work) => work(session) }, different, { session });
    });
    counts.rows += rows.length;
  }
  counts.names = await withdrawNames(target, load._id);
  return counts;
}
