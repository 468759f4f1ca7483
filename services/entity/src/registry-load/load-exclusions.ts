import { isDeepStrictEqual } from "node:util";
import type { AnyBulkWriteOperation } from "mongodb";
import type { ExclusionDocument } from "../model/documents.ts";
import { untilUndisturbed } from "../model/entity-writes.ts";
import { guardIdentifiers, hasGuards, isGraver, touchGuards } from "../model/exclusions.ts";
import { applyInBatches } from "./batches.ts";
import { createNamesLoad } from "./excluded-names/load-names.ts";
import {
  EXCLUSIONS_BATCH,
  type NamingRow,
  namingBatches,
  recordRemembering,
  refreshEntities,
  storedBatches,
} from "./exclusion-effects.ts";
import type { ExclusionRow, NamedRow, UnreadableRow } from "./files/exclusion-row.ts";
import { type ExclusionsFile, readExclusions, validateExclusions } from "./files/exclusions-file.ts";
import { type LoadOptions, type LoadReport, type RunningLoad, runLoad } from "./load-log.ts";
import { recordUnreadable } from "./unreadable-rows.ts";

/** Maximum number of a row's changes that can be withdrawn. */
const MAX_CHANGES_KEPT = 10;
const COUNTS = {
  new: 0,
  changed: 0,
  unchanged: 0,
  repeated: 0,
  unidentified: 0,
  quarantined: 0,
  gone: 0,
  held: 0,
  names_new: 0,
  names_gone: 0,
  entities: 0,
};

type ExclusionsLoad = RunningLoad<ExclusionsFile, keyof typeof COUNTS>;
/** `namesNobody`: it has neither a UEI nor a CAGE nor a name. */
type Unreadable = UnreadableRow & { readonly lineNumber: number; readonly namesNobody: boolean };
/** What rows with the same key can differ in. */
type Stated = Pick<ExclusionDocument, "effect" | "termination_date" | "comment">;

/**
 * Loads an exclusions file: checks the whole file, writes nothing unless it is sound, then applies its rows, ends those
 * that it lacks, and appends a snapshot to each entity that becomes debarred or no longer is. In the report,
 * `unidentified` are rows without a UEI and a CAGE (people, vessels and others), which affect no entity and are kept by their
 * names, `names_new` and `names_gone` counting what changes; `repeated` are rows that equal another one; `gone` are rows of the
 * previous file that this one lacks; `held` are those that it lacks too, but has perhaps in a form that can't be read;
 * `entities` are those whose exclusions changed. Errors: RegistryFileError.
 */
export async function loadExclusions(options: LoadOptions): Promise<LoadReport> {
  const { collections } = options;
  const run = { ...options, kind: "exclusions", validate: validateExclusions, counts: COUNTS } as const;
  return runLoad(run, async (load) => {
    const { counts, loadId } = load;
    counts.unidentified = load.file.unidentified;
    const unreadable: Unreadable[] = [];
    const names = await createNamesLoad(load);
    const identified = identifiedRows(options, load, {
      onUnreadable: (row) => unreadable.push(row),
      onNamed: names.add,
    });
    await applyInBatches(identified, { size: EXCLUSIONS_BATCH, atOnce: 1 }, (rows) => writeRows(load, rows));
    await names.finish({ isHeld: unreadable.some(({ namesNobody }) => namesNobody) });
    const isHeld = await recordUnreadable(load, unreadable);
    const refresh = (rows: readonly NamingRow[]) => refreshBy(load, rows, isHeld);
    // Entities are refreshed only after all rows are written. If the load is killed before the end, loading the file again
    // does it.
    for await (const batch of namingBatches(collections, { load_id: loadId })) {
      await disturbWriters(load, batch);
      counts.entities += await refresh(batch);
    }
    // A row that an unfinished load ended may still exclude entities.
    const unfinished = await collections.loads.distinct("_id", { kind: "exclusions", state: "running" });
    const endings = [{ ended_by: { $exists: false } }, { ended_by: { $in: [loadId, ...unfinished] } }];
    const lacked = { load_id: { $ne: loadId }, $or: endings };
    for await (const batch of storedBatches(collections, lacked)) {
      const lost = batch.filter((row) => !isHeld(row));
      counts.held += batch.length - lost.length;
      counts.gone += await endRows(load, lost);
      counts.entities += await refresh(lost);
    }
  });
}

/** Yields the rows that name a UEI or a CAGE. */
async function* identifiedRows(
  { path, onProgress = () => {} }: LoadOptions,
  load: ExclusionsLoad,
  {
    onUnreadable,
    onNamed,
  }: {
    onUnreadable: (row: Unreadable) => void;
    onNamed: (row: NamedRow) => Promise<void>;
  },
): AsyncGenerator<ExclusionRow> {
  const { rows: total } = load.file;
  let read = 0;
  for await (const { lineNumber, unreadable, row, named } of readExclusions(path)) {
    if (unreadable) onUnreadable({ ...unreadable, lineNumber, namesNobody: !row && !named });
    if (row) yield row;
    if (named) await onNamed(named);
    const done = Math.min(lineNumber, total);
    if (++read % EXCLUSIONS_BATCH === 0) onProgress({ phase: "applying", done, total });
  }
}

/** Refreshes entities by the rows of this load, those that it holds, and those that have ended. */
function refreshBy(
  load: ExclusionsLoad,
  rows: readonly NamingRow[],
  isHeld: (row: ExclusionDocument) => boolean,
): Promise<number> {
  const file = { file_name: load.file.fileName, cut_date: load.file.cutDate };
  const isKnown = (row: ExclusionDocument) => row.load_id === load.loadId || row.ended_by !== undefined || isHeld(row);
  return untilUndisturbed(() => refreshEntities(load, rows, { file, isKnown }));
}

/** Marks rows that the file lacks; returns how many were not marked before. After a kill, the same load finds them again. */
async function endRows(load: ExclusionsLoad, rows: readonly ExclusionDocument[]): Promise<number> {
  const { transact, collections, loadId, file } = load;
  const filter = { _id: { $in: rows.map(({ _id }) => _id) }, ended_by: { $exists: false } };
  const ended = { ended_by: loadId, ended_on: file.cutDate };
  return transact(async (session) => {
    await guardIdentifiers(collections, session, rows);
    const lost = rows.filter(({ ended_by }) => ended_by === undefined);
    await recordRemembering(load, session, lost, "cleared");
    return (await collections.exclusions.updateMany(filter, { $set: ended }, { session })).modifiedCount;
  });
}

async function writeRows(load: ExclusionsLoad, rows: readonly ExclusionRow[]): Promise<void> {
  const { transact, collections, loadId, counts, file } = load;
  const { exclusions } = collections;
  const stored = await exclusions.find({ _id: { $in: rows.map(({ key }) => key) } }).toArray();
  const before = new Map(stored.map((row) => [row._id, row]));
  const added: ExclusionDocument[] = [];
  const changed: ExclusionDocument[] = [];
  const unchanged: string[] = [];
  const writes: AnyBulkWriteOperation<ExclusionDocument>[] = [];
  for (const equal of Map.groupBy(rows, ({ key }) => key).values()) {
    const { key } = equal[0]!;
    const old = before.get(key);
    const current = documentOf(equal, old, load);
    const { changed_by, before: earlier, ...seen } = { ...old, load_id: loadId, last_seen: file.cutDate };
    const isSame = isDeepStrictEqual(seen, current);
    counts[old ? (isSame ? "unchanged" : "changed") : "new"]++;
    counts.repeated += equal.length - 1;
    if (!isSame) changed.push(current);
    if (!old) added.push(changedRow(old, current));
    else if (!isSame) {
      writes.push({ replaceOne: { filter: { _id: key }, replacement: changedRow(old, current) } });
    } else if (old.load_id !== loadId || old.last_seen !== file.cutDate) unchanged.push(key);
  }
  if (added.length + unchanged.length + writes.length === 0) return;
  const seen = { load_id: loadId, last_seen: file.cutDate };
  await transact(async (session) => {
    if (added.length > 0) await exclusions.insertMany(added, { session });
    if (unchanged.length > 0) await exclusions.updateMany({ _id: { $in: unchanged } }, { $set: seen }, { session });
    if (writes.length > 0) await exclusions.bulkWrite(writes, { session });
    await recordRemembering(load, session, changed, "excluded");
  });
}

/**
 * Waits for the calls that write an entity without having seen these rows as this load changed them, or makes them start
 * again. They write the guard before their transaction, so that a call whose guard is not there yet will see the rows.
 */
async function disturbWriters(
  load: ExclusionsLoad,
  rows: readonly (NamingRow & Pick<ExclusionDocument, "changed_by">)[],
): Promise<void> {
  const { transact, collections, loadId } = load;
  const changed = rows.filter(({ changed_by }) => changed_by === loadId);
  if (!(await hasGuards(collections, changed))) return;
  await transact((session) => touchGuards(collections, session, changed));
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

/** Returns the row of equal rows of a batch; what their key leaves out is taken from the gravest of the whole file. */
function documentOf(
  equal: readonly ExclusionRow[],
  old: ExclusionDocument | undefined,
  { loadId, file }: ExclusionsLoad,
): ExclusionDocument {
  const { key, ...row } = equal.reduce(graver);
  const count = file.countOf(key);
  const isPartOfAll = count > equal.length && old?.load_id === loadId;
  const stated = Object.entries(isPartOfAll ? graver(row, old) : row).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(stated) as typeof row),
    _id: key,
    load_id: loadId,
    first_seen: old?.first_seen ?? file.cutDate,
    last_seen: file.cutDate,
    ...(count > 1 && { count }),
  };
}

/** Returns the first row with the graver effect and the later end of both. */
function graver<Row extends Stated>(row: Row, other: Stated): Row {
  const [grave, mild] = isGraver(other, row) ? [other, row] : [row, other];
  const ends = [row.termination_date, other.termination_date];
  const latest = ends.includes(undefined) ? undefined : ends.toSorted().at(-1);
  return { ...row, effect: grave.effect, comment: grave.comment ?? mild.comment, termination_date: latest };
}
