import type { MongoClient } from "mongodb";
import type { Collections, LoadDocument } from "../documents.ts";
import { type ChangeSummary, summarizeChanges } from "./change-log.ts";
import type { IsoDate } from "./dates.ts";
import { createLanes, type Lanes } from "./lanes.ts";
import { holdLoadLock } from "./load-lock.ts";
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
  /** A file with a later cut date was begun before: nothing of this one may be applied. */
  readonly isOlder: boolean;
  readonly lanes: Lanes;
  /** Errors: another load took over. */
  assertHeld(): Promise<void>;
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
  /** A file older than what is loaded: nothing of it was applied. */
  readonly isOlder: boolean;
  /** Of this run. */
  readonly counts: Readonly<Record<Count, number>>;
  /** Of all runs that this file had. */
  readonly changes: ChangeSummary;
}

const QUARANTINE_BATCH = 500;
/** While one waits for the server the other is prepared; more would only take it from those who look something up. */
const LANES = 2;

/**
 * Applies a file that was found sound, alone in its environment, and keeps a record of it: what was loaded when, what
 * came of it, which rows could not be applied and why. The same file again, perhaps after a kill, takes its record up
 * again.
 */
export async function runLoad<C extends Readonly<Record<string, number>>>(
  options: LoadOptions & { kind: LoadDocument["kind"]; file: LoadedFile & { readonly rows: number }; nothing: C },
  apply: (load: RunningLoad) => Promise<C>,
): Promise<{ loadId: string; isOlder: boolean; counts: C; changes: ChangeSummary }> {
  const { client, collections, kind, file, now, onWait = () => {} } = options;
  const lanes = createLanes(client, LANES);
  const sessions = lanes.sessions.map(({ id }) => id!.id);
  const lock = await holdLoadLock({ client, collections, fileName: file.fileName, sessions, onWait });
  try {
    const loadId = `${kind}:${file.sha256}`;
    const newest = await newestCutDate(collections, kind);
    const isOlder = newest !== undefined && file.cutDate < newest;
    await begin(collections, loadId, { kind, file, now });
    const quarantine = createQuarantine(collections, loadId);
    const load = { loadId, isOlder, lanes, assertHeld: lock.assertHeld, quarantine: quarantine.add };
    const counts = isOlder ? options.nothing : await apply(load);
    await quarantine.flush();
    const changes = await summarizeChanges(collections, loadId);
    const done = { state: "done" as const, finished_at: now(), counts: { rows: file.rows, ...counts }, changes };
    await collections.loads.updateOne({ _id: loadId }, { $set: done });
    return { loadId, isOlder, counts, changes };
  } finally {
    await lanes.close();
    await lock.release();
  }
}

async function begin(
  { loads, quarantine }: Collections,
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
  await loads.updateOne({ _id: loadId }, { $set: started, $setOnInsert: onInsert }, { upsert: true });
  await quarantine.deleteMany({ load_id: loadId });
}

function createQuarantine({ quarantine }: Collections, loadId: string) {
  let waiting: { load_id: string; line_number: number; reason: string }[] = [];
  const flush = async () => {
    const rows = waiting;
    waiting = [];
    if (rows.length > 0) await quarantine.insertMany(rows);
  };
  return {
    async add(lineNumber: number, reason: string) {
      waiting.push({ load_id: loadId, line_number: lineNumber, reason });
      if (waiting.length >= QUARANTINE_BATCH) await flush();
    },
    flush,
  };
}

/** The newest cut date of this kind of file, of loads that were begun, those killed midway too. */
async function newestCutDate({ loads }: Collections, kind: LoadDocument["kind"]): Promise<IsoDate | undefined> {
  const [newest] = await loads.find({ kind }).sort({ cut_date: -1 }).limit(1).toArray();
  return newest?.cut_date;
}
