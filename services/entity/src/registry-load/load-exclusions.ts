import { isDeepStrictEqual } from "node:util";
import type { AnyBulkWriteOperation } from "mongodb";
import type { Collections, ExclusionDocument } from "../model/documents.ts";
import { untilUndisturbed } from "../model/entity-writes.ts";
import { guardIdentifiers, newestLoad } from "../model/exclusions.ts";
import { EXCLUSIONS_BATCH, refreshEntities, storedBatches } from "./exclusion-effects.ts";
import { RegistryFileError } from "./files/errors.ts";
import type { ExclusionRow } from "./files/exclusion-row.ts";
import { readExclusions, validateExclusions } from "./files/exclusions-file.ts";
import type { LoadedFile } from "./files/member.ts";
import { inBatches, type LoadOptions, type LoadReport, type RunningLoad, runLoad } from "./load-log.ts";

/** Minimum share of the previous file's rows. With fewer, a file looks truncated: few exclusions end from day to day. */
const LEAST_SHARE = 0.8;
/** Only files with at least this many rows are compared. */
const LEAST_TO_COMPARE = 1_000;
/** Maximum number of a row's changes that can be withdrawn. */
const MAX_CHANGES_KEPT = 10;
const COUNTS = { new: 0, changed: 0, unchanged: 0, unidentified: 0, quarantined: 0, gone: 0, entities: 0 };

type ExclusionsLoad = RunningLoad<LoadedFile, keyof typeof COUNTS>;

/**
 * Loads an exclusions file: checks the whole file, writes nothing unless it is sound, then applies its rows, ends those
 * that it lacks, and appends a snapshot to each entity that becomes debarred or no longer is. In the report,
 * `unidentified` are rows without a UEI and a CAGE (people, vessels and others), which affect no entity; `gone` are rows
 * of the previous file that this one lacks; `entities` are those whose exclusions changed. Errors: RegistryFileError.
 */
export async function loadExclusions(
  options: LoadOptions & {
    /** Accepts a file with far fewer rows than the previous one. */
    acceptFewer?: boolean;
  },
): Promise<LoadReport> {
  const { collections, path, onProgress = () => {} } = options;
  const refuse = async (file: LoadedFile) => {
    if (!options.acceptFewer) await refuseShrunken(file, collections);
  };
  const run = { ...options, kind: "exclusions", validate: validateExclusions, counts: COUNTS, refuse } as const;
  return runLoad(run, async (load) => {
    const { counts, loadId } = load;
    let done = 0;
    for await (const batch of inBatches(readExclusions(path), EXCLUSIONS_BATCH)) {
      for (const { lineNumber, reason } of batch) if (reason) await load.quarantine(lineNumber, reason);
      counts.unidentified += batch.filter(({ row, reason }) => !row && !reason).length;
      const rows = batch.flatMap(({ row }) => row ?? []);
      if (rows.length > 0) await writeRows(load, rows);
      done += batch.length;
      onProgress({ phase: "applying", done, total: load.file.rows });
    }
    // Entities are refreshed only after all rows are written. If the load is killed before the end, loading the file again
    // does it.
    for await (const batch of storedBatches(collections, { load_id: loadId })) {
      counts.entities += await refresh(load, batch);
    }
    // A row that an unfinished load ended may still exclude entities.
    const unfinished = await collections.loads.distinct("_id", { kind: "exclusions", state: "running" });
    const endings = [{ ended_by: { $exists: false } }, { ended_by: { $in: [loadId, ...unfinished] } }];
    const lacked = { load_id: { $ne: loadId }, $or: endings };
    for await (const batch of storedBatches(collections, lacked)) {
      counts.gone += await endRows(load, batch);
      counts.entities += await refresh(load, batch);
    }
  });
}

/**
 * An exclusions file does not contain its number of rows, and rows that it lacks have ended, so half a file would clear
 * vendors that are debarred. Errors: RegistryFileError.
 */
async function refuseShrunken({ fileName, cutDate, rows }: LoadedFile, collections: Collections): Promise<void> {
  const before = await newestLoad(collections, "exclusions");
  const known = before?.counts?.rows ?? 0;
  if (!before || cutDate < before.cut_date || known < LEAST_TO_COMPARE || rows >= known * LEAST_SHARE) return;
  throw new RegistryFileError(
    `${fileName} has ${rows} exclusions, ${before.file_name} had ${known}: it looks truncated, and rows that a file ` +
      "lacks have ended. If it is right, load it with --accept-fewer",
  );
}

/** Refreshes entities by the rows of this load, and by those that have ended. */
function refresh(load: ExclusionsLoad, rows: readonly ExclusionDocument[]): Promise<number> {
  const file = { file_name: load.file.fileName, cut_date: load.file.cutDate };
  const isKnown = (row: ExclusionDocument) => row.load_id === load.loadId || row.ended_by !== undefined;
  return untilUndisturbed(() => refreshEntities(load, rows, { file, isKnown }));
}

/** Marks rows that the file lacks; returns how many were not marked before. After a kill, the same load finds them again. */
async function endRows(load: ExclusionsLoad, rows: readonly ExclusionDocument[]): Promise<number> {
  const { transact, collections, loadId, file } = load;
  const filter = { _id: { $in: rows.map(({ _id }) => _id) }, ended_by: { $exists: false } };
  const ended = { ended_by: loadId, ended_on: file.cutDate };
  return transact(async (session) => {
    await guardIdentifiers(collections, session, rows);
    return (await collections.exclusions.updateMany(filter, { $set: ended }, { session })).modifiedCount;
  });
}

async function writeRows(load: ExclusionsLoad, rows: readonly ExclusionRow[]): Promise<void> {
  const { transact, collections, loadId, counts } = load;
  const stored = await collections.exclusions.find({ _id: { $in: rows.map(({ key }) => key) } }).toArray();
  const before = new Map(stored.map((row) => [row._id, row]));
  const writes: AnyBulkWriteOperation<ExclusionDocument>[] = [];
  const different: ExclusionDocument[] = [];
  for (const row of rows) {
    const old = before.get(row.key);
    const { changed_by, before: earlier, ...seen } = { ...old, load_id: loadId, last_seen: load.file.cutDate };
    const current = documentOf(row, old, load);
    const isSame = isDeepStrictEqual(seen, current);
    const document = isSame
      ? { ...current, ...(changed_by && { changed_by }), ...(earlier && { before: earlier }) }
      : changedRow(old, current);
    counts[old ? (isSame ? "unchanged" : "changed") : "new"]++;
    if (!isSame) different.push(document, ...(old ? [old] : []));
    if (isDeepStrictEqual(old, document)) continue;
    before.set(row.key, document);
    writes.push({ replaceOne: { filter: { _id: row.key }, replacement: document, upsert: true } });
  }
  if (writes.length === 0) return;
  await transact(async (session) => {
    await guardIdentifiers(collections, session, different);
    await collections.exclusions.bulkWrite(writes, { ordered: true, session });
  });
}

/** Returns the row with its state before this load, so that the load can be withdrawn. */
function changedRow(old: ExclusionDocument | undefined, current: ExclusionDocument): ExclusionDocument {
  const changed = { ...current, changed_by: current.load_id };
  const before = old?.changed_by === current.load_id ? old.before : old && withChangesKept(old, MAX_CHANGES_KEPT);
  return before ? { ...changed, before } : changed;
}

function withChangesKept({ before, ...row }: ExclusionDocument, count: number): ExclusionDocument {
  return before && count > 1 ? { ...row, before: withChangesKept(before, count - 1) } : row;
}

function documentOf(
  { key, ...row }: ExclusionRow,
  old: ExclusionDocument | undefined,
  { loadId, file: { cutDate } }: ExclusionsLoad,
): ExclusionDocument {
  const stated = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as typeof row;
  return { _id: key, load_id: loadId, first_seen: old?.first_seen ?? cutDate, last_seen: cutDate, ...stated };
}
