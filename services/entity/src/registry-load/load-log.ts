import { addDays, utcDay } from "@vvs/registration";
import { type ClientSession, type Filter, type MongoClient, ObjectId } from "mongodb";
import { announceChanges } from "../announcements/announce.ts";
import type { IsoDate } from "../model/dates.ts";
import type { Collections, LoadChanges, LoadDocument } from "../model/documents.ts";
import type { QuarantineDocument } from "../model/quarantine.ts";
import { summarizeChanges } from "./change-log.ts";
import type { LoadTarget } from "./commit.ts";
import { RULES } from "./facts-hash.ts";
import { RegistryFileError } from "./files/errors.ts";
import { type LoadedFile, sha256OfFile } from "./files/member.ts";
import type { OnProgress } from "./files/progress-display.ts";
import { holdLoadLock, type Transact } from "./load-lock.ts";
import { recordingRefusals, refusalId, refuseShrunken } from "./refusals.ts";

export interface LoadOptions {
  readonly client: MongoClient;
  readonly collections: Collections;
  readonly path: string;
  readonly now: () => Date;
  /** Accepts a complete file with far fewer rows than the newest one. */
  readonly acceptFewer?: boolean;
  readonly onProgress?: OnProgress;
  /** Called once, with the load for which this one waits. */
  readonly onWait?: (other: { file_name: string; host: string; pid: number }) => void;
}

/** A load that is running. */
export interface RunningLoad<File, Count extends string> extends LoadTarget {
  readonly loadId: string;
  readonly file: File;
  /** Counts of this run, to be updated. */
  readonly counts: Record<Count | "quarantined", number>;
  /** Counts and records a row that can't be applied. Errors: RegistryFileError if another load took over. */
  quarantine(lineNumber: number, reason: string, row?: QuarantineDocument["row"]): Promise<void>;
}

/** The result of a load. */
export interface LoadReport {
  readonly loadId: string;
  readonly fileName: string;
  readonly cutDate: IsoDate;
  /** A load of a newer file has begun: nothing was applied, and this file is not listed as loaded. */
  readonly isOlder: boolean;
  /** Counts of this run. */
  readonly counts: Readonly<Record<string, number>>;
  /** What all runs of this file changed. */
  readonly changes: LoadChanges;
}

const QUARANTINE_BATCH = 500;

/**
 * Checks a whole file, and applies it if it is sound, while no other load of the environment is running. Records when the
 * file was loaded, what changed, and which rows could not be applied and why. If the same file is loaded again, perhaps
 * after a kill, its record is continued. Errors: RegistryFileError.
 */
export async function runLoad<File extends LoadedFile, Count extends string>(
  options: LoadOptions & {
    kind: LoadDocument["kind"];
    validate: (path: string, onProgress: OnProgress | undefined) => Promise<File>;
    /** The initial counts. */
    counts: Record<Count | "quarantined", number>;
  },
  apply: (load: RunningLoad<File, Count>) => Promise<void>,
): Promise<LoadReport> {
  const { client, collections, kind, now, onWait = () => {} } = options;
  const startedAt = now();
  const refusable = recordingRefusals({ loads: collections.loads, kind, path: options.path, now });
  const file = await refusable(async () => {
    const read = await options.validate(options.path, options.onProgress);
    refuseFuture(read, now());
    return read;
  });
  const { fileName, cutDate, rows } = file;
  const loadId = `${kind}:${file.sha256}`;
  const counts = { ...options.counts };
  const report = (isOlder: boolean, changes: LoadChanges): LoadReport => {
    const seconds = (now().getTime() - startedAt.getTime()) / 1000;
    return { loadId, fileName, cutDate, isOlder, counts: { rows, ...counts, seconds }, changes };
  };
  const lock = await holdLoadLock({ client, collections, fileName, onWait });
  const { transact } = lock;
  try {
    await refuseWithdrawn(collections, loadId, fileName);
    const newest = await newestBegun(collections, kind);
    if (newest && cutDate < newest.cut_date) return report(true, await summarizeChanges(collections, loadId));
    await refusable(async () => {
      await refuseReplaced(options.path, file);
      if (!options.acceptFewer) await refuseShrunken(collections, kind, file);
    });
    await transact((session) => begin(collections, session, loadId, { kind, file, startedAt: now() }));
    const quarantine = createQuarantine(collections, transact);
    const runId = new ObjectId();
    const target = { transact, collections, loadId, runId, actor: `registry:${fileName}`, now: startedAt };
    await apply({
      ...target,
      file,
      counts,
      async quarantine(line_number, reason, row) {
        counts.quarantined++;
        await quarantine.add({ load_id: loadId, line_number, reason, ...(row && { row }) });
      },
    });
    await quarantine.flush();
    const changes = await summarizeChanges(collections, loadId);
    const done = {
      state: "done" as const,
      finished_at: now(),
      counts: { rows, ...counts },
      changes,
      rules: RULES[kind],
    };
    await transact(async (session) => {
      await collections.loads.updateOne({ _id: loadId }, { $set: done }, { session });
      await collections.loads.deleteOne({ _id: refusalId(kind) }, { session });
      await announceChanges(collections, session, { runId, loadId, withdrawn: false });
    });
    return report(false, changes);
  } finally {
    await lock.release();
  }
}

/** Reads and applies the same file. Errors: RegistryFileError if it was replaced while the load waited for another. */
async function refuseReplaced(path: string, { fileName, sha256 }: LoadedFile): Promise<void> {
  if ((await sha256OfFile(path)) === sha256) return;
  throw new RegistryFileError(`${fileName} was replaced after it was checked: nothing was loaded. Load it again`);
}

/** A date in the future would make all later files look old. Errors: RegistryFileError. */
function refuseFuture({ fileName, cutDate }: LoadedFile, now: Date): void {
  if (cutDate <= addDays(utcDay(now), 1)) return;
  throw new RegistryFileError(
    `${fileName} says that it was cut on ${cutDate}, which is later than tomorrow: nothing was loaded`,
  );
}

async function begin(
  { loads, quarantine }: Collections,
  session: ClientSession,
  loadId: string,
  { kind, file, startedAt }: { kind: LoadDocument["kind"]; file: LoadedFile; startedAt: Date },
): Promise<void> {
  const { fileName: file_name, sha256, cutDate: cut_date, isComplete: complete } = file;
  const started = { kind, file_name, sha256, cut_date, complete, started_at: startedAt };
  // A file that is loaded stays in force while it is loaded again.
  const onInsert = { state: "running" as const };
  await loads.updateOne({ _id: loadId }, { $set: started, $setOnInsert: onInsert }, { upsert: true, session });
  await quarantine.deleteMany({ load_id: loadId }, { session });
}

function createQuarantine({ quarantine }: Collections, transact: Transact) {
  let waiting: QuarantineDocument[] = [];
  const flush = async () => {
    const rows = waiting;
    waiting = [];
    if (rows.length > 0) await transact((session) => quarantine.insertMany(rows, { session }));
  };
  return {
    async add(row: QuarantineDocument) {
      waiting.push(row);
      if (waiting.length >= QUARANTINE_BATCH) await flush();
    },
    flush,
  };
}

/** Errors: RegistryFileError if the file was withdrawn, or a withdrawal is not finished. */
async function refuseWithdrawn({ loads }: Collections, loadId: string, fileName: string): Promise<void> {
  const load = await loads.findOne({ _id: loadId, state: "withdrawn" });
  if (load) {
    const { at, reason } = load.withdrawn ?? {};
    throw new RegistryFileError(`${fileName} was withdrawn ${at?.toISOString()} (${reason}): it is not loaded again`);
  }
  const unfinished = await unfinishedWithdrawal({ loads });
  if (unfinished) throw new RegistryFileError(`${fileName} is not loaded: ${unfinishedText(unfinished)}`);
}

/** Returns the withdrawal that was killed before everything was restored. */
export async function unfinishedWithdrawal({ loads }: Pick<Collections, "loads">): Promise<LoadDocument | undefined> {
  return (await loads.findOne({ state: "withdrawn", "withdrawn.finished_at": { $exists: false } })) ?? undefined;
}

export function unfinishedText({ _id, file_name }: LoadDocument): string {
  return `the withdrawal of ${file_name} is not finished. Run this again: withdraw ${_id}`;
}

/**
 * Returns the load of the newest file of this kind that has begun, finished or not, and is not withdrawn; `except` is the id
 * of one that does not count.
 */
export async function newestBegun({ loads }: Pick<Collections, "loads">, kind: LoadDocument["kind"], except = "") {
  const filter: Filter<LoadDocument> = { kind, state: { $in: ["running", "done"] }, _id: { $ne: except } };
  return (await loads.findOne(filter, { sort: { cut_date: -1, started_at: -1 } })) ?? undefined;
}
