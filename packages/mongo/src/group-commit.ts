import { createBatcher } from "@vvs/batching";
import { ServiceError } from "@vvs/errors";
import type { ClientSession, MongoClient } from "mongodb";
import { isPassing } from "./errors.ts";
import { inTransaction } from "./transaction.ts";

/** Maximum number of items in one transaction. */
const MAX_GROUP = 100;
/** Maximum number of transactions at the same time. Meanwhile, further items wait and share the next one. */
const AT_ONCE = 2;

/**
 * Returns a function that writes an item; items that arrive during a commit share the next transaction. Each item is
 * stored completely or not at all, and its promise settles after the commit. If a shared transaction fails, each of its
 * items gets a transaction of its own, so that no item fails because of another. `write` may run more than once, and
 * must only write to MongoDB.
 */
export function createGroupCommit<T>(options: {
  client: MongoClient;
  write: (session: ClientSession, items: readonly T[]) => Promise<void>;
}): (item: T) => Promise<void> {
  const { client, write } = options;
  return createBatcher<T, void>({
    async run(items) {
      await inTransaction(client, (session) => write(session, items));
      return [];
    },
    maxSize: MAX_GROUP,
    atOnce: AT_ONCE,
    failsAll: isForAll,
  });
}

/** Returns whether the transaction may have been committed, or another one would fail in the same way. */
function isForAll(error: unknown): boolean {
  return isPassing(error) || (error instanceof ServiceError && error.code === "service_unavailable");
}
