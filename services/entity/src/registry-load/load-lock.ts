import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { inTransaction, isDuplicateKey, isOutcomeUnknown } from "@vvs/mongo";
import { type ClientSession, type Filter, type MongoClient, MongoServerError } from "mongodb";
import type { Collections, LoadLockDocument } from "../model/documents.ts";
import { RegistryFileError } from "./files/errors.ts";

/** Runs work in a transaction after all earlier transactions of the load; the work may run more than once. */
export type Transact = <T>(work: (session: ClientSession) => Promise<T>) => Promise<T>;

type Owner = Pick<LoadLockDocument, "holder" | "file_name" | "host" | "pid" | "sessions">;

const LEASE_MS = 15_000;
const RENEW_MS = 4_000;
const RETRY_MS = 500;
/** Maximum duration of a transaction with its retries: enough for MongoDB to elect a new primary. */
const TRANSACTION_MS = 120_000;
/** Maximum time that an attempt to take the lock waits for a transaction that has written to it. */
const TAKE_MS = 1_000;
const MAX_TIME_EXPIRED = 50;
/** After each write, the load leaves MongoDB to others for this share of the time that the write took. */
const REST_SHARE = 0.25;
/** By the server's clock, so that processes on machines with other clocks agree. */
const UNTIL = { $add: ["$$NOW", LEASE_MS] };

/**
 * Waits until no other load of this environment is running, and makes others wait until the lock is released, or the
 * process ends. Each transaction of the holder writes to the lock, and so does a process that takes over, so that only one
 * of the two can commit.
 */
export async function holdLoadLock(options: {
  client: MongoClient;
  collections: Collections;
  fileName: string;
  /** Called once, with the load for which this one waits. */
  onWait: (other: Pick<LoadLockDocument, "file_name" | "host" | "pid">) => void | Promise<void>;
}) {
  const { client, collections, fileName, onWait } = options;
  const session = client.startSession();
  const sessions = [session.id!.id];
  const own = { holder: randomUUID(), file_name: fileName, host: hostname(), pid: process.pid, sessions };
  for (let isReported = false; ; ) {
    const other = (await collections.loadLocks.findOne({ _id: "load" })) ?? undefined;
    if (other?.holder === own.holder || (await take(client, collections, own, other))) break;
    if (!isReported && other) await onWait(other);
    isReported ||= other !== undefined;
    await wait(RETRY_MS);
  }
  const mine = { _id: "load" as const, holder: own.holder };
  // A renewal may fail: the lock is held until another load takes it.
  const renew = () => collections.loadLocks.updateOne(mine, [{ $set: { until: UNTIL } }]).catch(() => {});
  const renewal = setInterval(renew, RENEW_MS);
  const afterOthers = createSequence();
  // Errors: RegistryFileError if another load took over; then nothing is written.
  const transact: Transact = (work) =>
    afterOthers(() => {
      const attempt = async () => {
        const held = await collections.loadLocks.updateOne(mine, { $inc: { writes: 1 } }, { session });
        if (held.matchedCount === 0) throw new RegistryFileError(`${fileName}: ${LOST}`);
        return work(session);
      };
      return inTransaction(client, attempt, { session, backgroundMs: TRANSACTION_MS });
    });
  return {
    transact,
    async release() {
      clearInterval(renewal);
      await session.endSession();
      await collections.loadLocks.deleteOne(mine);
    },
  };
}

const LOST = "another load took over, because this one did not renew its lock for too long. Load the file again";

/**
 * Returns a function that runs work once all earlier work and a rest after it have ended, successfully or not. So a load
 * uses at most one of the server's processors, and leaves the others to look-ups.
 */
function createSequence(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    let beganAt = 0;
    const running = last.then(() => {
      beganAt = performance.now();
      return work();
    });
    const rest = () => wait((performance.now() - beganAt) * REST_SHARE);
    last = running.then(rest, rest);
    return running;
  };
}

/**
 * Takes the lock if it is free or its holder's process has ended. Ends the other's open transactions first, as the server
 * would keep them and their locks for a minute.
 */
async function take(
  client: MongoClient,
  { loadLocks }: Collections,
  own: Owner,
  other: LoadLockDocument | undefined,
): Promise<boolean> {
  const filter = other ? whereOver(other) : { _id: "load" as const, holder: { $exists: false } };
  if (other && (await loadLocks.countDocuments(filter)) === 0) return false;
  if (other) await endSessions(client, other);
  const { file_name, sessions, ...rest } = own;
  const claim = { ...rest, file_name: { $literal: file_name }, sessions: { $literal: sessions }, until: UNTIL };
  const options = { upsert: !other, maxTimeMS: TAKE_MS };
  const taken = await loadLocks.updateOne(filter, [{ $set: claim }], options).catch(ignoreDisturbed);
  return taken !== undefined && taken.matchedCount + taken.upsertedCount > 0;
}

function whereOver(other: LoadLockDocument): Filter<LoadLockDocument> {
  if (isDead(other)) return { _id: "load", holder: other.holder };
  return { _id: "load", $expr: { $lte: ["$until", "$$NOW"] } };
}

/** Returns whether the process is known to have ended. A process on another machine is always waited for. */
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

/**
 * Ignores errors that mean that another load was first, or that a transaction of the previous holder is still open. After
 * an unknown outcome the next attempt finds out: a holder recognizes its own lock.
 */
function ignoreDisturbed(error: unknown): undefined {
  const isLate = error instanceof MongoServerError && error.code === MAX_TIME_EXPIRED;
  if (!isLate && !isDuplicateKey(error) && !isOutcomeUnknown(error)) throw error;
}
