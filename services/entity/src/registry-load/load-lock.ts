import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { isDuplicateKey, isOutcomeUnknown } from "@vvs/mongo";
import { type ClientSession, type Filter, type MongoClient, MongoServerError } from "mongodb";
import type { Collections, LoadLockDocument } from "../model/documents.ts";
import { RegistryFileError } from "./files/errors.ts";
import { createInTurn } from "./lanes.ts";

/** The right to write what files say, held until it is released or its process is gone. */
export interface LoadLock {
  /** Runs `work` in a transaction. Errors: RegistryFileError where another load took over: nothing is written then. */
  readonly transact: Transact;
  release(): Promise<void>;
}

/** Runs work in a transaction, in turn with all others of the load; it may run more than once. */
export type Transact = <T>(work: (session: ClientSession) => Promise<T>) => Promise<T>;

type Owner = Pick<LoadLockDocument, "holder" | "file_name" | "host" | "pid" | "sessions">;

const LEASE_MS = 15_000;
const RENEW_MS = 4_000;
const RETRY_MS = 500;
/** Maximum time that an attempt to take the lock waits for a transaction that has written to it. */
const TAKE_MS = 1_000;
const MAX_TIME_EXPIRED = 50;
/** Times are the server's, so that processes on machines with other clocks agree. */
const UNTIL = { $add: ["$$NOW", LEASE_MS] };

/**
 * Waits until no other load of this environment works, and keeps others waiting from then on. Each transaction of the
 * holder writes to the lock, and so does who takes over: of the two only one can commit.
 */
export async function holdLoadLock(options: {
  client: MongoClient;
  collections: Collections;
  fileName: string;
  /** Called once, with the load that this one waits for. */
  onWait: (other: Pick<LoadLockDocument, "file_name" | "host" | "pid">) => void | Promise<void>;
}): Promise<LoadLock> {
  const { client, collections, fileName, onWait } = options;
  const session = client.startSession();
  const own = {
    holder: randomUUID(),
    file_name: fileName,
    host: hostname(),
    pid: process.pid,
    sessions: [session.id!.id],
  };
  for (let told = false; ; ) {
    const other = (await collections.loadLocks.findOne({ _id: "load" })) ?? undefined;
    if (other?.holder === own.holder || (await take(client, collections, own, other))) break;
    if (!told && other) await onWait(other);
    told ||= other !== undefined;
    await wait(RETRY_MS);
  }
  const mine = { _id: "load" as const, holder: own.holder };
  // A renewal that fails harms nothing: the lock is held until another load takes it.
  const renew = () => collections.loadLocks.updateOne(mine, [{ $set: { until: UNTIL } }]).catch(() => {});
  const renewal = setInterval(renew, RENEW_MS);
  const inTurn = createInTurn();
  return {
    transact: (work) =>
      inTurn(() =>
        session.withTransaction(async () => {
          const held = await collections.loadLocks.updateOne(mine, { $inc: { writes: 1 } }, { session });
          if (held.matchedCount === 0) throw new RegistryFileError(`${fileName}: ${LOST}`);
          return work(session);
        }),
      ),
    async release() {
      clearInterval(renewal);
      await session.endSession();
      await collections.loadLocks.deleteOne(mine);
    },
  };
}

const LOST = "another load took over, as this one was silent for too long. Load the file again";

/**
 * Takes the lock, if nobody has it or who had it is gone. Transactions that the other left open are ended first: the
 * server would keep them, and what they locked, for a minute.
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

/**
 * Ignores that another load was first, or that a transaction of the one before is still open. An unknown outcome is
 * found out by the next look: a holder recognizes its own lock.
 */
function ignoreDisturbed(error: unknown): undefined {
  const isLate = error instanceof MongoServerError && error.code === MAX_TIME_EXPIRED;
  if (!isLate && !isDuplicateKey(error) && !isOutcomeUnknown(error)) throw error;
}
