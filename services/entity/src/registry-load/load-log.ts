import type { ClientSession, MongoClient } from "mongodb";
import { dateOf, type IsoDate } from "../model/dates.ts";
import type { Collections, LoadDocument } from "../model/documents.ts";
import { type ChangeSummary, summarizeChanges } from "./change-log.ts";
import { RegistryFileError } from "./files/errors.ts";
import { createLanes, type Lanes } from "./lanes.ts";
import { holdLoadLock, type Transact } from "./load-lock.ts";
import type { OnProgress } from "./progress.ts";

/** What identifies a file that is loaded. */
export interface LoadedFile {
  readonly fileName: string;
  readonly sha256: string;
  readonly cutDate: IsoDate;
}

/** A load at work. */
export interface RunningLoad {
  readonly loadId: string;
  readonly lanes: Lanes;
  /** Errors: RegistryFileError, another load took over. */
  readonly transact: Transact;
  quarantine(lineNumber: number, reason: string): Promise<void>;
}

export interface LoadOptions {
  readonly client: MongoClient;
  readonly collections: Collections;
  readonly path: string;
  readonly now: () => Date;
  readonly onProgress?: OnProgress;
  /** Told once of the load that this one waits for. */
  readonly onWait?: (other: { file_name: string; host: string; pid: number }) => void;
}

/** What a load came to. */
export interface LoadReport<Count extends string> {
  readonly loadId: string;
  readonly fileName: string;
  readonly cutDate: IsoDate;
  /** A file older than one that was begun: nothing of it was applied, and it is not listed as loaded. */
  readonly isOlder: boolean;
  /** Of this run. */
  readonly counts: Readonly<Record<Count, number>>;
  /** Of all runs that this file had. */
  readonly changes: ChangeSummary;
}

const DAY_MS = 24 * 3_600_000;
const QUARANTINE_BATCH = 500;
/** While one waits for the server the other is prepared; more would only take it from those who look something up. */
const LANES = 2;

/**
 * Applies a file that was found sound, alone in its environment, and keeps a record of it: what was loaded when, what
 * came of it, which rows could not be applied and why. The same file again, perhaps after a kill, takes its record up
 * again.
 */
export async function runLoad<C extends Readonly<Record<string, number>>>(
  options: LoadOptions & {
    kind: LoadDocument["kind"];
    file: LoadedFile & { readonly rows: number };
    nothing: C;
    /** Called under the lock, before anything is written. Errors: RegistryFileError where the file must not be loaded. */
    refuse?: () => Promise<void>;
  },
  apply: (load: RunningLoad) => Promise<C>,
): Promise<{ loadId: string; isOlder: boolean; counts: C; changes: ChangeSummary }> {
  const { client, collections, kind, file, now, onWait = () => {} } = options;
  refuseFuture(file, now());
  const lanes = createLanes(LANES);
  const lock = await holdLoadLock({ client, collections, fileName: file.fileName, onWait });
  const { transact } = lock;
  try {
    const loadId = `${kind}:${file.sha256}`;
    await refuseWithdrawn(collections, loadId, file.fileName);
    const newest = await newestBegun(collections, kind);
    const isOlder = newest !== undefined && file.cutDate < newest.cut_date;
    if (isOlder)
      return { loadId, isOlder, counts: options.nothing, changes: await summarizeChanges(collections, loadId) };
    await options.refuse?.();
    await transact((session) => begin(collections, session, loadId, { kind, file, now }));
    const quarantine = createQuarantine(collections, transact, loadId);
    const counts = await apply({ loadId, lanes, transact, quarantine: quarantine.add });
    await quarantine.flush();
    const changes = await summarizeChanges(collections, loadId);
    const done = { state: "done" as const, finished_at: now(), counts: { rows: file.rows, ...counts }, changes };
    await transact((session) => collections.loads.updateOne({ _id: loadId }, { $set: done }, { session }));
    return { loadId, isOlder, counts, changes };
  } finally {
    await lanes.close();
    await lock.release();
  }
}

/** A date that has not come would make all later files look old. Errors: RegistryFileError. */
function refuseFuture({ fileName, cutDate }: LoadedFile, now: Date): void {
  if (cutDate <= dateOf(new Date(now.getTime() + DAY_MS))) return;
  throw new RegistryFileError(
    `${fileName} says that it was cut on ${cutDate}, which is later than tomorrow: nothing of it was loaded`,
  );
}

async function begin(
  { loads, quarantine }: Collections,
  session: ClientSession,
  loadId: string,
  { kind, file, now }: { kind: LoadDocument["kind"]; file: LoadedFile; now: () => Date },
): Promise<void> {
  const started: Omit<LoadDocument, "_id" | "state"> = {
    kind,
    file_name: file.fileName,
    sha256: file.sha256,
    cut_date: file.cutDate,
    started_at: now(),
  };
  // A file that is loaded already stays in force while it is loaded again.
  const onInsert = { state: "running" as const };
  await loads.updateOne({ _id: loadId }, { $set: started, $setOnInsert: onInsert }, { upsert: true, session });
  await quarantine.deleteMany({ load_id: loadId }, { session });
}

function createQuarantine({ quarantine }: Collections, transact: Transact, loadId: string) {
  let waiting: { load_id: string; line_number: number; reason: string }[] = [];
  const flush = async () => {
    const rows = waiting;
    waiting = [];
    if (rows.length > 0) await transact((session) => quarantine.insertMany(rows, { session }));
  };
  return {
    async add(lineNumber: number, reason: string) {
      waiting.push({ load_id: loadId, line_number: lineNumber, reason });
      if (waiting.length >= QUARANTINE_BATCH) await flush();
    },
    flush,
  };
}

/** Errors: RegistryFileError where the file was withdrawn, or any withdrawal is not finished. */
async function refuseWithdrawn({ loads }: Collections, loadId: string, fileName: string): Promise<void> {
  const load = await loads.findOne({ _id: loadId, state: "withdrawn" });
  if (load) {
    const { at, reason } = load.withdrawn ?? {};
    throw new RegistryFileError(`${fileName} was withdrawn ${at?.toISOString()} (${reason}): it is not loaded again`);
  }
  const unfinished = await unfinishedWithdrawal({ loads });
  if (unfinished) throw new RegistryFileError(`${fileName} is not loaded: ${unfinishedText(unfinished)}`);
}

/** The withdrawal that was killed before it had taken everything back. */
export async function unfinishedWithdrawal({ loads }: Pick<Collections, "loads">): Promise<LoadDocument | undefined> {
  return (await loads.findOne({ state: "withdrawn", "withdrawn.finished_at": { $exists: false } })) ?? undefined;
}

export function unfinishedText({ _id, file_name }: LoadDocument): string {
  return `the withdrawal of ${file_name} is not finished. Run this again: withdraw ${_id}`;
}

/** The load of the newest file of this kind that was begun, killed midway or not, and not withdrawn. */
export async function newestBegun(
  { loads }: Pick<Collections, "loads">,
  kind: LoadDocument["kind"],
): Promise<LoadDocument | undefined> {
  const notWithdrawn = loads.find({ kind, state: { $ne: "withdrawn" } });
  return (await notWithdrawn.sort({ cut_date: -1, started_at: -1 }).limit(1).toArray())[0];
}
