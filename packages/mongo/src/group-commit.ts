import { createBatcher } from "@vvs/batching";
import { type ClientSession, type MongoClient, MongoError } from "mongodb";
import { inTransaction } from "./client.ts";
import { isPassing } from "./errors.ts";

/** Bounds how long one transaction can get. */
const MAX_GROUP = 100;
/** While so many are being committed, what comes waits and shares the next one. */
const AT_ONCE = 2;

/**
 * Writes items in transactions that those share which come while others are being committed. Each item is stored wholly
 * or not at all, and its promise settles after the commit. Where one makes the transaction fail, each is tried in one of
 * its own, so that none fails for another's fault. `write` may run more than once, and must only write to MongoDB.
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
    failsAll: mayHold,
  });
}

/** Could the transaction be committed all the same, or would another one fail alike? */
function mayHold(error: unknown): boolean {
  return isPassing(error) || (error instanceof MongoError && error.hasErrorLabel("UnknownTransactionCommitResult"));
}
