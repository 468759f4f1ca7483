import { ObjectId } from "mongodb";
import { nameKeys } from "../../matching/names/screening.ts";
import type { Collections } from "../../model/documents.ts";
import type { ExcludedNameDocument } from "../../model/excluded-names.ts";
import { MATCH_VERSION } from "../../model/match-keys.ts";
import type { LoadTarget } from "../commit.ts";
import type { NamedRow } from "../files/exclusion-row.ts";
import { codeOf } from "../files/exclusions-file.ts";
import type { LoadedFile } from "../files/member.ts";
import { newestBegun } from "../load-log.ts";

/** Number of rows that are written together. */
const BATCH = 1_000;

interface NamesLoad extends LoadTarget {
  readonly loadId: string;
  readonly file: Pick<LoadedFile, "cutDate">;
  readonly counts: Record<"names_new" | "names_gone" | "held", number>;
}

/**
 * Creates the keeper of the rows without identifiers of a file that is being loaded. Rows that are stored already are only
 * noted, so that a day's file costs few writes. If the load is killed, loading the file again continues it. Memory: some 50
 * bytes for each row.
 */
export async function createNamesLoad(load: NamesLoad) {
  const { collections, transact, loadId, file, counts } = load;
  const { excludedNames } = collections;
  /** Of stored rows that have not ended: those that were not read in the file. */
  const missing = new Set<bigint>();
  for await (const { key } of openRows(collections)) missing.add(codeOf(key));
  const read = new Set<bigint>();
  let added: NamedRow[] = [];

  async function flush(): Promise<void> {
    const seen = { match_version: MATCH_VERSION, added_by: loadId, first_seen: file.cutDate };
    const rows = added.map((row) => ({ _id: new ObjectId(), ...row, name_keys: nameKeys(row.name), ...seen }));
    added = [];
    if (rows.length === 0) return;
    await transact((session) => excludedNames.insertMany(rows, { session }));
    counts.names_new += rows.length;
  }

  return {
    async add(row: NamedRow): Promise<void> {
      const code = codeOf(row.key);
      const isStored = missing.delete(code);
      if (isStored || read.has(code)) {
        read.add(code);
        return;
      }
      read.add(code);
      added.push(row);
      if (added.length === BATCH) await flush();
    },
    /** Ends the stored rows that the file lacks. With `isHeld` they stand: one that can't be read may be any of them. */
    async finish({ isHeld }: { isHeld: boolean }): Promise<void> {
      await flush();
      if (missing.size === 0) return;
      const lost: string[] = [];
      for await (const { key } of openRows(collections)) if (missing.has(codeOf(key))) lost.push(key);
      if (isHeld) {
        counts.held += lost.length;
        return;
      }
      const before = await newestBegun(collections, "exclusions", loadId);
      const ended = { ended_by: loadId, ended_on: file.cutDate, ...(before && { last_seen: before.cut_date }) };
      for (let start = 0; start < lost.length; start += BATCH) {
        const filter = { ended_by: { $exists: false }, key: { $in: lost.slice(start, start + BATCH) } };
        counts.names_gone += await transact(async (session) => {
          return (await excludedNames.updateMany(filter, { $set: ended }, { session })).modifiedCount;
        });
      }
    },
  };
}

function openRows({ excludedNames }: Pick<Collections, "excludedNames">) {
  return excludedNames
    .find({ ended_by: { $exists: false } })
    .project<Pick<ExcludedNameDocument, "key">>({ _id: 0, key: 1 })
    .batchSize(BATCH * 10);
}

/** Removes the rows that a load added, and opens those that it ended; continues an earlier run that was killed. */
export async function withdrawNames({ collections, transact }: LoadTarget, loadId: string): Promise<number> {
  const { excludedNames } = collections;
  const inBatches = async (by: "added_by" | "ended_by", write: (ids: ObjectId[]) => Promise<unknown>) => {
    for (let count = 0; ; ) {
      const batch = await excludedNames.find({ [by]: loadId }, { projection: { _id: 1 }, limit: BATCH }).toArray();
      if (batch.length === 0) return count;
      await write(batch.map(({ _id }) => _id));
      count += batch.length;
    }
  };
  const removed = await inBatches("added_by", (ids) =>
    transact((session) => excludedNames.deleteMany({ _id: { $in: ids } }, { session })),
  );
  const open = { $unset: { ended_by: 1, ended_on: 1, last_seen: 1 } } as const;
  const opened = await inBatches("ended_by", (ids) =>
    transact((session) => excludedNames.updateMany({ _id: { $in: ids } }, open, { session })),
  );
  return removed + opened;
}
