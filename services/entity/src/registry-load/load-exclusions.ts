import { isDeepStrictEqual } from "node:util";
import type { AnyBulkWriteOperation, Filter } from "mongodb";
import { dateOf, type IsoDate } from "../model/dates.ts";
import type { Collections, ExclusionDocument } from "../model/documents.ts";
import { untilUndisturbed } from "../model/entity-writes.ts";
import { exclusionsSource, findExclusions, guardIdentifiers, newestLoad, withExclusions } from "../model/exclusions.ts";
import { commitChanges, type LoadTarget } from "./commit.ts";
import { RegistryFileError } from "./files/errors.ts";
import type { ExclusionRow } from "./files/exclusion-row.ts";
import { type ExclusionsFile, readExclusions, validateExclusions } from "./files/exclusions-file.ts";
import { type LoadOptions, type LoadReport, type RunningLoad, runLoad } from "./load-log.ts";

/**
 * What a load of exclusions came to. `unidentified` are rows of people, vessels and others that name neither a UEI nor
 * a CAGE: they concern no entity; `gone` are rows of the file before that this one lacks: terminated exclusions;
 * `entities` are those, of the registry and of organizations, whose exclusions changed.
 */
export type ExclusionsReport = LoadReport<"rows" | keyof typeof NOTHING | "seconds">;

interface Target extends LoadTarget {
  readonly loadId: string;
  readonly fileName: string;
  readonly cutDate: IsoDate;
}

const BATCH_SIZE = 500;
/** From one day to the next few exclusions end; of fewer rows than these a share says nothing. */
const LEAST_SHARE = 0.8;
const LEAST_TO_COMPARE = 1_000;
/** Changes of one row that can be taken back, one load after the other. */
const MAX_CHANGES_KEPT = 10;
const NOTHING = { new: 0, changed: 0, unchanged: 0, unidentified: 0, quarantined: 0, gone: 0, entities: 0 };

/**
 * Loads an exclusions file: checks the whole file first and writes nothing unless it is sound; takes its rows, ends
 * those that it lacks, and appends a snapshot to each entity that is debarred now or no longer. Errors: RegistryFileError.
 */
export async function loadExclusions(
  options: LoadOptions & {
    /** Take a file with far fewer rows than the one before. */
    acceptFewer?: boolean;
  },
): Promise<ExclusionsReport> {
  const { collections, path, now, onProgress } = options;
  const startedAt = now();
  const file = await validateExclusions(path, onProgress);
  const refuse = async () => {
    if (!options.acceptFewer) await refuseShrunken(file, collections);
  };
  const { loadId, isOlder, counts, changes } = await runLoad(
    { ...options, kind: "exclusions", file, nothing: NOTHING, refuse },
    (load) =>
      applyRows(options, file, load, {
        transact: load.transact,
        collections,
        loadId: load.loadId,
        fileName: file.fileName,
        cutDate: file.cutDate,
        actor: `registry:${file.fileName}`,
        now: startedAt,
      }),
  );
  const seconds = (now().getTime() - startedAt.getTime()) / 1000;
  const { fileName, cutDate, rows } = file;
  return { loadId, fileName, cutDate, isOlder, counts: { rows, ...counts, seconds }, changes };
}

/**
 * An exclusions file does not say how many rows it has, and what it lacks has ended: half a file would clear those who
 * are debarred. Errors: RegistryFileError.
 */
async function refuseShrunken({ fileName, cutDate, rows }: ExclusionsFile, collections: Collections): Promise<void> {
  const before = await newestLoad(collections, "exclusions");
  const known = before?.counts?.rows ?? 0;
  if (!before || cutDate < before.cut_date || known < LEAST_TO_COMPARE || rows >= known * LEAST_SHARE) return;
  throw new RegistryFileError(
    `${fileName} holds ${rows} exclusions, ${before.file_name} held ${known}: it looks truncated, and what a file lacks ` +
      "has ended. Load it with --accept-fewer if it is right",
  );
}

async function applyRows(
  { path, onProgress = () => {} }: LoadOptions,
  file: ExclusionsFile,
  load: RunningLoad,
  target: Target,
): Promise<typeof NOTHING> {
  const { collections, loadId } = target;
  const counts = { ...NOTHING };
  const rows = batchesOf(path, async (lineNumber, reason) => {
    counts.quarantined++;
    await load.quarantine(lineNumber, reason);
  });
  let done = 0;
  for await (const batch of rows) {
    const identified = batch.filter(({ uei, cage }) => uei || cage);
    counts.unidentified += batch.length - identified.length;
    const outcome = await writeRows(target, identified);
    counts.new += outcome.new;
    counts.changed += outcome.changed;
    counts.unchanged += outcome.unchanged;
    done += batch.length;
    onProgress({ phase: "applying", done, total: file.rows });
  }
  // Only now it is known which rows the file lacks. Entities follow the rows that it has; a kill in between is healed
  // by the same load again.
  for await (const batch of storedBatches(collections, { load_id: loadId })) {
    counts.entities += await refreshEntities(target, batch);
  }
  // What a load ended that was never done may still exclude entities.
  const undone = await collections.loads.distinct("_id", { kind: "exclusions", state: "running" });
  const endings = [{ ended_by: { $exists: false } }, { ended_by: { $in: [loadId, ...undone] } }];
  const lacked = { load_id: { $ne: loadId }, $or: endings };
  for await (const batch of storedBatches(collections, lacked)) {
    counts.gone += await endRows(target, batch);
    counts.entities += await refreshEntities(target, batch);
  }
  return counts;
}

async function* batchesOf(
  path: string,
  onBad: (lineNumber: number, reason: string) => Promise<void>,
): AsyncGenerator<ExclusionRow[]> {
  let batch: ExclusionRow[] = [];
  for await (const item of readExclusions(path)) {
    if (item.kind === "bad") {
      await onBad(item.lineNumber, item.reason);
      continue;
    }
    batch.push(item.row);
    if (batch.length < BATCH_SIZE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Rows in the order of their keys; those that are written meanwhile may leave the filter. */
export async function* storedBatches(
  { exclusions }: Collections,
  filter: Filter<ExclusionDocument>,
): AsyncGenerator<ExclusionDocument[]> {
  let after = "";
  for (;;) {
    const batch = await exclusions
      .find({ ...filter, _id: { $gt: after } })
      .sort({ _id: 1 })
      .limit(BATCH_SIZE)
      .toArray();
    if (batch.length === 0) return;
    yield batch;
    after = batch.at(-1)!._id;
  }
}

/** Marks rows that this file lacks; returns how many were not marked before. A kill afterwards: the same load again finds them. */
async function endRows(target: Target, rows: readonly ExclusionDocument[]): Promise<number> {
  const { transact, collections, loadId, cutDate } = target;
  const filter = { _id: { $in: rows.map(({ _id }) => _id) }, ended_by: { $exists: false } };
  const ended = { ended_by: loadId, ended_on: cutDate };
  return transact(async (session) => {
    await guardIdentifiers(collections, session, rows);
    return (await collections.exclusions.updateMany(filter, { $set: ended }, { session })).modifiedCount;
  });
}

async function writeRows(target: Target, rows: readonly ExclusionRow[]) {
  const { transact, collections, loadId } = target;
  const counts = { new: 0, changed: 0, unchanged: 0 };
  if (rows.length === 0) return counts;
  const stored = await collections.exclusions.find({ _id: { $in: rows.map(({ key }) => key) } }).toArray();
  const before = new Map(stored.map((row) => [row._id, row]));
  const writes: AnyBulkWriteOperation<ExclusionDocument>[] = [];
  const different: ExclusionDocument[] = [];
  for (const row of rows) {
    const old = before.get(row.key);
    const { changed_by, before: earlier, ...seen } = { ...old, load_id: loadId, last_seen: target.cutDate };
    const told = documentOf(row, old, target);
    const isSame = isDeepStrictEqual(seen, told);
    const document = isSame
      ? { ...told, ...(changed_by && { changed_by }), ...(earlier && { before: earlier }) }
      : changedRow(old, told);
    counts[old ? (isSame ? "unchanged" : "changed") : "new"]++;
    if (!isSame) different.push(document, ...(old ? [old] : []));
    if (isDeepStrictEqual(old, document)) continue;
    before.set(row.key, document);
    writes.push({ replaceOne: { filter: { _id: row.key }, replacement: document, upsert: true } });
  }
  if (writes.length > 0) {
    await transact(async (session) => {
      await guardIdentifiers(collections, session, different);
      await collections.exclusions.bulkWrite(writes, { ordered: true, session });
    });
  }
  return counts;
}

/** The row with what it said before this load, so that the load can be withdrawn. */
function changedRow(old: ExclusionDocument | undefined, told: ExclusionDocument): ExclusionDocument {
  const changed = { ...told, changed_by: told.load_id };
  const before = old?.changed_by === told.load_id ? old.before : old && withChangesKept(old, MAX_CHANGES_KEPT);
  return before ? { ...changed, before } : changed;
}

function withChangesKept({ before, ...row }: ExclusionDocument, count: number): ExclusionDocument {
  return before && count > 1 ? { ...row, before: withChangesKept(before, count - 1) } : row;
}

function documentOf(
  row: ExclusionRow,
  old: ExclusionDocument | undefined,
  { loadId, cutDate }: Target,
): ExclusionDocument {
  return {
    _id: row.key,
    load_id: loadId,
    first_seen: old?.first_seen ?? cutDate,
    last_seen: cutDate,
    sam_number: row.samNumber,
    ...(row.uei && { uei: row.uei }),
    ...(row.cage && { cage: row.cage }),
    exclusion_type: row.exclusionType,
    program: row.program,
    agency: row.agency,
    ...(row.activeDate && { active_date: row.activeDate }),
    ...(row.terminationDate && { termination_date: row.terminationDate }),
  };
}

/** Brings the entities that rows may concern to what the rows of this load say; returns how many changed. */
function refreshEntities(target: Target, rows: readonly ExclusionDocument[]): Promise<number> {
  const { collections, loadId, fileName, now } = target;
  return untilUndisturbed(async () => {
    const found = await collections.entities
      .find({
        $or: [
          { "identifiers.uei": { $in: rows.flatMap(({ uei }) => uei ?? []) } },
          { "identifiers.cage": { $in: rows.flatMap(({ cage }) => cage ?? []) } },
        ],
      })
      .toArray();
    if (found.length === 0) return 0;
    const concerning = await findExclusions(
      collections,
      found.map(({ identifiers }) => identifiers),
      dateOf(now),
    );
    const current = concerning.filter((row) => row.load_id === loadId);
    const source = exclusionsSource(fileName, now);
    const changes = found.map((previous) => ({ previous, entity: withExclusions(previous, current, source) }));
    const outcomes = await commitChanges(target, changes);
    return outcomes.filter((outcome) => outcome !== "unchanged").length;
  });
}
