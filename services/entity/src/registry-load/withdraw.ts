import { ObjectId } from "mongodb";
import { announceChanges, announceWithdrawal } from "../announcements/announce.ts";
import type { Collections, LoadDocument } from "../model/documents.ts";
import { RegistryFileError } from "./files/errors.ts";
import { holdLoadLock } from "./load-lock.ts";
import { type LoadOptions, newestBegun, unfinishedText, unfinishedWithdrawal } from "./load-log.ts";
import { withdrawExclusions } from "./withdraw-exclusions.ts";
import { withdrawRegistry } from "./withdraw-registry.ts";

export interface WithdrawalOptions extends Pick<LoadOptions, "client" | "collections" | "now" | "onWait"> {
  readonly loadId: string;
  /** user@host */
  readonly by: string;
  readonly reason: string;
}

/** The result of a withdrawal. */
export interface WithdrawalReport {
  readonly load: LoadDocument;
  /** Counts of this run. */
  readonly counts: Readonly<Record<string, number>>;
  /** The newest file that is not withdrawn, also one whose load was killed: no older file may be loaded. */
  readonly previous: LoadDocument | undefined;
}

/**
 * Withdraws the newest load of its kind. The load is marked first, and from then on none of its facts count; then
 * everything that it wrote is restored in batches. A withdrawal that was killed is continued by withdrawing the load
 * again, and until then no file is loaded. Errors: RegistryFileError.
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
      if (other.file_name === fileName && state === "running") {
        const holder = `${other.host}, pid ${other.pid}`;
        throw new RegistryFileError(`${fileName} is being loaded now (${holder}): end that first, then withdraw it`);
      }
      onWait(other);
    },
  });
  try {
    const load = await readLoad(collections, loadId);
    await refuse(collections, load);
    const withdrawn = load.withdrawn ?? { at: now(), by, reason };
    const { transact } = lock;
    await transact(async (session) => {
      await loads.updateOne({ _id: loadId }, { $set: { state: "withdrawn", withdrawn } }, { session });
      if (load.state !== "withdrawn") await announceWithdrawal(collections, session, loadId);
    });
    const runId = new ObjectId();
    // An id of its own, so that the record of what the load changed stays as it is.
    const target = {
      transact,
      collections,
      loadId: `withdrawal:${loadId}`,
      runId,
      actor: `registry:${fileName}`,
      now: now(),
    };
    const counts = await (load.kind === "registry" ? withdrawRegistry(target, load) : withdrawExclusions(target, load));
    const finished = { "withdrawn.finished_at": now() };
    await transact(async (session) => {
      await loads.updateOne({ _id: loadId }, { $set: finished }, { session });
      await announceChanges(collections, session, { runId, loadId, withdrawn: true });
    });
    return { load, counts, previous: await newestBegun(collections, load.kind) };
  } finally {
    await lock.release();
  }
}

async function readLoad({ loads }: Collections, loadId: string): Promise<LoadDocument> {
  const load = await loads.findOne({ _id: loadId });
  if (!load) throw new RegistryFileError(`There is no load ${loadId}`);
  return load;
}

/** Errors: RegistryFileError if the load can't be withdrawn now. */
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
