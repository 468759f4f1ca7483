import type { MongoClient } from "mongodb";
import type { Collections, LoadDocument } from "../model/documents.ts";
import { newestLoad } from "../model/exclusions.ts";
import { RegistryFileError } from "./files/errors.ts";
import { holdLoadLock } from "./load-lock.ts";
import type { LoadOptions } from "./load-log.ts";
import { newestBegun, unfinishedText, unfinishedWithdrawal } from "./load-log.ts";
import { withdrawExclusions } from "./withdraw-exclusions.ts";
import { withdrawRegistry } from "./withdraw-registry.ts";

export interface WithdrawalOptions {
  readonly client: MongoClient;
  readonly collections: Collections;
  readonly loadId: string;
  /** user@host */
  readonly by: string;
  readonly reason: string;
  readonly now: () => Date;
  readonly onWait?: LoadOptions["onWait"];
}

/** What a withdrawal came to. */
export interface WithdrawalReport {
  readonly load: LoadDocument;
  /** Of this run. */
  readonly counts: Readonly<Record<string, number>>;
  /** The file before, wholly loaded and not withdrawn. */
  readonly previous: LoadDocument | undefined;
}

/**
 * Takes back the newest load of its kind. It is marked first, and nothing it said counts from then on; then what it
 * wrote is taken back in batches. A withdrawal that was killed is taken up by withdrawing the load again; no file is
 * loaded before. Errors: RegistryFileError.
 */
export async function withdrawLoad(options: WithdrawalOptions): Promise<WithdrawalReport> {
  const { client, collections, loadId, by, reason, now, onWait = () => {} } = options;
  const { loads } = collections;
  const { file_name: fileName } = await readLoad(collections, loadId);
  const lock = await holdLoadLock({
    client,
    collections,
    fileName,
    async onWait(other) {
      const { state } = await readLoad(collections, loadId);
      if (other.file_name === fileName && state === "running") throw new RegistryFileError(runningText(other));
      onWait(other);
    },
  });
  try {
    const load = await readLoad(collections, loadId);
    await refuse(collections, load);
    const withdrawn = load.withdrawn ?? { at: now(), by, reason };
    await lock.transact((session) =>
      loads.updateOne({ _id: loadId }, { $set: { state: "withdrawn", withdrawn } }, { session }),
    );
    const { transact } = lock;
    // No loadId: the record of what the load did stays as it is.
    const target = { transact, collections, loadId: undefined, actor: `registry:${fileName}`, now: now() };
    const counts = await (load.kind === "registry" ? withdrawRegistry(target, load) : withdrawExclusions(target, load));
    const finished = { "withdrawn.finished_at": now() };
    await transact((session) => loads.updateOne({ _id: loadId }, { $set: finished }, { session }));
    return { load, counts, previous: await newestLoad(collections, load.kind) };
  } finally {
    await lock.release();
  }
}

async function readLoad({ loads }: Collections, loadId: string): Promise<LoadDocument> {
  const load = await loads.findOne({ _id: loadId });
  if (!load) throw new RegistryFileError(`There is no load ${loadId}`);
  return load;
}

function runningText({ file_name, host, pid }: { file_name: string; host: string; pid: number }): string {
  return `${file_name} is being loaded now (${host}, pid ${pid}): end that first, then withdraw it`;
}

/** Errors: RegistryFileError where the load can't be withdrawn now. */
async function refuse(collections: Collections, load: LoadDocument): Promise<void> {
  const { _id, file_name, kind, state, withdrawn } = load;
  if (withdrawn?.finished_at) {
    const { at, by, reason } = withdrawn;
    throw new RegistryFileError(`${file_name} was withdrawn already, ${at.toISOString()} by ${by}: ${reason}`);
  }
  const unfinished = await unfinishedWithdrawal(collections);
  if (unfinished && unfinished._id !== _id) throw new RegistryFileError(unfinishedText(unfinished));
  const newest = await newestBegun(collections, kind);
  if (state === "withdrawn" || newest?._id === _id) return;
  throw new RegistryFileError(
    `${newest?.file_name} was loaded after ${file_name}. Withdraw that one first: withdraw ${newest?._id}`,
  );
}
