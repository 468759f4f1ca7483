import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { isDuplicateKey } from "@vvs/mongo";
import type { Binary, Filter, MongoClient } from "mongodb";
import type { Collections, LoadLockDocument } from "../documents.ts";

/** The right to load files, held until it is released or its process is gone. */
export interface LoadLock {
  /** Errors: another load took over, since this one was not heard of for too long. */
  assertHeld(): Promise<void>;
  release(): Promise<void>;
}

type Owner = Pick<LoadLockDocument, "holder" | "file_name" | "host" | "pid" | "sessions">;

const LEASE_MS = 15_000;
const RENEW_MS = 4_000;
const RETRY_MS = 500;
/** Times are the server's, so that processes on machines with other clocks agree. */
const UNTIL = { $add: ["$$NOW", LEASE_MS] };

/**
 * Waits until no other load of this environment works, and keeps others waiting from then on. What a killed load still
 * holds in its sessions is set free: the server would keep its last transaction, and so its rows, for a minute.
 */
export async function holdLoadLock(options: {
  client: MongoClient;
  collections: Collections;
  fileName: string;
  /** In which the load writes. */
  sessions: readonly Binary[];
  /** Told once of the load that this one waits for. */
  onWait: (other: Pick<LoadLockDocument, "file_name" | "host" | "pid">) => void;
}): Promise<LoadLock> {
  const { client, collections, fileName, sessions, onWait } = options;
  const own = { holder: randomUUID(), file_name: fileName, host: hostname(), pid: process.pid, sessions };
  let heldUntil = 0;
  for (let told = false; ; ) {
    const askedAt = performance.now();
    const other = (await collections.loadLocks.findOne({ _id: "load" })) ?? undefined;
    if (await take(collections, own, other)) {
      heldUntil = askedAt + LEASE_MS;
      if (other) await endSessions(client, other);
      break;
    }
    if (!told && other) onWait(other);
    told ||= other !== undefined;
    await wait(RETRY_MS);
  }
  const mine = { _id: "load" as const, holder: own.holder };
  const renew = async () => {
    const askedAt = performance.now();
    const renewed = await collections.loadLocks.updateOne(mine, [{ $set: { until: UNTIL } }]);
    if (renewed.matchedCount === 0) throw new Error("another load took over; load the file again");
    heldUntil = askedAt + LEASE_MS;
  };
  // What fails here is asked again before the next write.
  const renewal = setInterval(() => renew().catch(() => {}), RENEW_MS);
  return {
    async assertHeld() {
      if (performance.now() >= heldUntil) await renew();
    },
    async release() {
      clearInterval(renewal);
      await collections.loadLocks.deleteOne(mine);
    },
  };
}

/** Takes the lock, if nobody has it or who had it is gone. */
async function take({ loadLocks }: Collections, own: Owner, other: LoadLockDocument | undefined): Promise<boolean> {
  const filter = other ? whereOver(other) : { _id: "load" as const, holder: { $exists: false } };
  const { file_name, sessions, ...rest } = own;
  const claim = { ...rest, file_name: { $literal: file_name }, sessions: { $literal: sessions }, until: UNTIL };
  const taken = await loadLocks.updateOne(filter, [{ $set: claim }], { upsert: !other }).catch(ignoreDuplicate);
  return taken !== undefined && taken.matchedCount + taken.upsertedCount > 0;
}

function whereOver(other: LoadLockDocument): Filter<LoadLockDocument> {
  if (isDead(other)) return { _id: "load", holder: other.holder };
  return { _id: "load", $expr: { $lte: ["$until", "$$NOW"] } };
}

/** Is it known that the process is gone? One on another machine is only ever waited for. */
function isDead({ host, pid }: LoadLockDocument): boolean {
  if (host !== hostname() || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

async function endSessions(client: MongoClient, { sessions }: LoadLockDocument): Promise<void> {
  if (sessions.length > 0) await client.db("admin").command({ killSessions: sessions.map((id) => ({ id })) });
}

function ignoreDuplicate(error: unknown): undefined {
  if (!isDuplicateKey(error)) throw error;
}
