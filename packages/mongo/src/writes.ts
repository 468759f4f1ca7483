import { currentDeadline, isTooLate, tooLate } from "@vvs/deadline";
import { outcomeUnknown } from "@vvs/errors";
import { ClientSession, Collection, type Db, type DbOptions, MongoClient, MongoServerError } from "mongodb";
import { isPassing } from "./errors.ts";

const WRITES = [
  "bulkWrite",
  "deleteMany",
  "deleteOne",
  "findOneAndDelete",
  "findOneAndReplace",
  "findOneAndUpdate",
  "insertMany",
  "insertOne",
  "replaceOne",
  "updateMany",
  "updateOne",
] as const;

/** LockTimeout, MaxTimeMSExpired. */
const UNDONE_CODES = new Set([24, 50]);

/**
 * A client whose writes keep the deadline of the call that is being served: no write begins in the call's last second,
 * and a write that MongoDB did not answer has an unknown outcome. Errors of such writes: service_unavailable, certainly
 * without effect or with an unknown outcome (isOutcomeUnknown); all others as the driver throws them.
 */
export class DeadlineClient extends MongoClient {
  override db(name?: string, options?: DbOptions): Db {
    const db = super.db(name, options);
    const collection = db.collection.bind(db) as (...args: unknown[]) => Collection;
    db.collection = ((...args: unknown[]) =>
      Object.setPrototypeOf(collection(...args), deadlineWrites)) as Db["collection"];
    return db;
  }
}

/** Numbers of writes that have not ended, by their transaction's session. */
const openWrites = new WeakMap<ClientSession, number>();

/** Returns whether a write of the session's transaction has not ended; perhaps it still waits for a connection. */
export const hasOpenWrites = (session: ClientSession): boolean => (openWrites.get(session) ?? 0) > 0;

type Write = (this: Collection, ...args: unknown[]) => Promise<unknown>;

const deadlineWrites = Object.create(Collection.prototype) as Record<string, Write>;
for (const name of WRITES) {
  const write = Collection.prototype[name] as unknown as Write;
  deadlineWrites[name] = async function (...args) {
    if (isTooLate(currentDeadline())) throw tooLate();
    const session = sessionOf(args.at(-1));
    const count = (by: number) => session && openWrites.set(session, (openWrites.get(session) ?? 0) + by);
    count(1);
    try {
      return await write.apply(this, args);
    } catch (error) {
      // In a transaction only its commit has an effect.
      if (session?.inTransaction() || !isPassing(error) || isUndone(error)) throw error;
      throw outcomeUnknown(error);
    } finally {
      count(-1);
    }
  };
}

/** Returns whether the server gave up the write before it was done. */
function isUndone(error: unknown): boolean {
  const isOfServer = error instanceof MongoServerError && error.name === "MongoServerError";
  return isOfServer && UNDONE_CODES.has(Number(error.code)) && !error.hasErrorLabel("RetryableWriteError");
}

function sessionOf(options: unknown): ClientSession | undefined {
  const { session } = (options ?? {}) as { session?: unknown };
  return session instanceof ClientSession ? session : undefined;
}
