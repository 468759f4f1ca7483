import { currentDeadline, isTooLate, tooLate } from "@vvs/deadline";
import { outcomeUnknown } from "@vvs/errors";
import { type ClientSession, Collection, type Db, type DbOptions, MongoClient, MongoServerError } from "mongodb";
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

type Write = (this: Collection, ...args: unknown[]) => Promise<unknown>;

const deadlineWrites = Object.create(Collection.prototype) as Record<string, Write>;
for (const name of WRITES) {
  const write = Collection.prototype[name] as unknown as Write;
  deadlineWrites[name] = async function (...args) {
    if (isTooLate(currentDeadline())) throw tooLate();
    try {
      return await write.apply(this, args);
    } catch (error) {
      // In a transaction only its commit has an effect.
      if (isInTransaction(args.at(-1)) || !isPassing(error) || isUndone(error)) throw error;
      throw outcomeUnknown(error);
    }
  };
}

/** Returns whether the server gave up the write before it was done. */
function isUndone(error: unknown): boolean {
  const isOfServer = error instanceof MongoServerError && error.name === "MongoServerError";
  return isOfServer && UNDONE_CODES.has(Number(error.code)) && !error.hasErrorLabel("RetryableWriteError");
}

function isInTransaction(options: unknown): boolean {
  const session = (options as { session?: ClientSession } | undefined)?.session;
  return session?.inTransaction() ?? false;
}
