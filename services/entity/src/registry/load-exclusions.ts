import { isDeepStrictEqual } from "node:util";
import type { AnyBulkWriteOperation } from "mongodb";
import type { Collections, EntityDocument, ExclusionDocument } from "../documents.ts";
import { untilUndisturbed } from "../entity-writes.ts";
import { findExclusions, newestLoad, periodsOf } from "../exclusions.ts";
import { exclusionsSource } from "../own-entity.ts";
import type { UnversionedEntity } from "../snapshots.ts";
import { commitChanges, type LoadTarget } from "./commit.ts";
import { dateOf } from "./dates.ts";
import { RegistryFileError } from "./errors.ts";
import type { ExclusionRow } from "./exclusion-row.ts";
import { type ExclusionsFile, readExclusions, validateExclusions } from "./exclusions.ts";
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
}

const BATCH_SIZE = 500;
/** From one day to the next few exclusions end; of fewer rows than these a share says nothing. */
const LEAST_SHARE = 0.8;
const LEAST_TO_COMPARE = 1_000;
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
  if (!options.acceptFewer) await refuseShrunken(file, collections);
  const { loadId, isOlder, counts, changes } = await runLoad(
    { ...options, kind: "exclusions", file, nothing: NOTHING },
    (load) =>
      applyRows(options, file, load, {
        session: load.lanes.sessions[0]!,
        inTurn: load.lanes.inTurn,
        collections,
        loadId: load.loadId,
        fileName: file.fileName,
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
    await load.assertHeld();
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
    await load.assertHeld();
    counts.entities += await refreshEntities(target, batch);
  }
  for await (const batch of storedBatches(collections, { load_id: { $ne: loadId } })) {
    await load.assertHeld();
    counts.entities += await refreshEntities(target, batch);
    await collections.exclusions.deleteMany({ _id: { $in: batch.map(({ _id }) => _id) } });
    counts.gone += batch.length;
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

async function* storedBatches(
  { exclusions }: Collections,
  filter: { load_id: string | { $ne: string } },
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

async function writeRows({ collections, loadId }: Target, rows: readonly ExclusionRow[]) {
  const counts = { new: 0, changed: 0, unchanged: 0 };
  if (rows.length === 0) return counts;
  const stored = await collections.exclusions.find({ _id: { $in: rows.map(({ key }) => key) } }).toArray();
  const before = new Map(stored.map((row) => [row._id, row]));
  const writes: AnyBulkWriteOperation<ExclusionDocument>[] = [];
  for (const row of rows) {
    const document = documentOf(row, loadId);
    const old = before.get(row.key);
    const isSame = isDeepStrictEqual(old && { ...old, load_id: loadId }, document);
    counts[old ? (isSame ? "unchanged" : "changed") : "new"]++;
    if (isSame && old?.load_id === loadId) continue;
    before.set(row.key, document);
    writes.push({ replaceOne: { filter: { _id: row.key }, replacement: document, upsert: true } });
  }
  if (writes.length > 0) await collections.exclusions.bulkWrite(writes, { ordered: true });
  return counts;
}

function documentOf(row: ExclusionRow, loadId: string): ExclusionDocument {
  return {
    _id: row.key,
    load_id: loadId,
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
    const changes = found.map((previous) => ({
      previous,
      entity: withExclusions(previous, current, { fileName, now }),
    }));
    const outcomes = await commitChanges(target, changes);
    return outcomes.filter((outcome) => outcome !== "unchanged").length;
  });
}

function withExclusions(
  previous: EntityDocument,
  rows: readonly ExclusionDocument[],
  { fileName, now }: { fileName: string; now: Date },
): UnversionedEntity {
  const exclusions = periodsOf(rows, previous.identifiers);
  const others = previous.sources.filter(({ name }) => name !== "sam_gov_exclusions");
  return {
    ...previous,
    exclusions,
    sources: exclusions.length > 0 ? [...others, exclusionsSource(fileName, now)] : others,
  };
}
