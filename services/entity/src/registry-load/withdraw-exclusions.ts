import { isDeepStrictEqual } from "node:util";
import type { AnyBulkWriteOperation } from "mongodb";
import { dateOf } from "../model/dates.ts";
import type { ExclusionDocument, LoadDocument } from "../model/documents.ts";
import { withoutLoad } from "../model/exclusion-history.ts";
import { exclusionsSource, findExclusions, guardIdentifiers, newestLoad, withExclusions } from "../model/exclusions.ts";
import { commitChanges, type LoadTarget } from "./commit.ts";
import { storedBatches } from "./load-exclusions.ts";

/**
 * Brings the rows that a load of exclusions wrote to what they said before it, and the entities that they concern with
 * them; goes on where an earlier run ended.
 */
export async function withdrawExclusions(target: LoadTarget, load: LoadDocument) {
  const { collections, transact } = target;
  const counts = { rows: 0, entities: 0 };
  const previous = await newestLoad(collections, "exclusions");
  const written = { $or: [{ load_id: load._id }, { changed_by: load._id }, { ended_by: load._id }] };
  for await (const rows of storedBatches(collections, written)) {
    const writes: AnyBulkWriteOperation<ExclusionDocument>[] = [];
    const different: ExclusionDocument[] = [];
    for (const row of rows) {
      const before = withoutLoad(row, load, previous);
      const filter = { _id: row._id };
      writes.push(before ? { replaceOne: { filter, replacement: before } } : { deleteOne: { filter } });
      const onlySeen = { ...row, load_id: before?.load_id, last_seen: before?.last_seen };
      if (!isDeepStrictEqual(onlySeen, before)) different.push(row, ...(before ? [before] : []));
    }
    // Together: a run that is killed between the two would not find the rows again.
    counts.entities += await transact(async (session) => {
      await guardIdentifiers(collections, session, different);
      await collections.exclusions.bulkWrite(writes, { session });
      return refreshEntities({ ...target, transact: (work) => work(session) }, different, previous);
    });
    counts.rows += rows.length;
  }
  return counts;
}

/** Brings entities to what the rows say, in the transaction of the target; returns how many changed. */
function refreshEntities(
  target: LoadTarget,
  rows: readonly ExclusionDocument[],
  newest: LoadDocument | undefined,
): Promise<number> {
  const { collections, transact, now } = target;
  return transact(async (session) => {
    const ways = [
      { "identifiers.uei": { $in: rows.flatMap(({ uei }) => uei ?? []) } },
      { "identifiers.cage": { $in: rows.flatMap(({ cage }) => cage ?? []) } },
    ];
    const found = await collections.entities.find({ $or: ways }, { session }).toArray();
    const identifiers = found.map((entity) => entity.identifiers);
    const concerning = await findExclusions(collections, identifiers, dateOf(now), session);
    const source = newest && exclusionsSource(newest.file_name, now);
    const changes = found.map((previous) => ({ previous, entity: withExclusions(previous, concerning, source) }));
    const outcomes = await commitChanges(target, changes);
    return outcomes.filter((outcome) => outcome !== "unchanged").length;
  });
}
