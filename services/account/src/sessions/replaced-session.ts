import type { ClientSession } from "mongodb";
import type { AccountStore, SessionDocument } from "../store.ts";
import { type SignedIn, sessionOver } from "./live-sessions.ts";

/** A session that takes the place of the caller's, which is over. */
export interface ReplacedSession {
  readonly token: string;
  readonly session: SignedIn;
}

/**
 * Puts a session in another's place; of two that try at once one alone does. Whatever changes a password ends the
 * sessions with it, so none is replaced that was proven with an earlier password. Errors: unauthorized (it is over).
 */
export async function replaceSession(
  store: AccountStore,
  { before, after }: { before: SessionDocument; after: SessionDocument },
  transaction: ClientSession,
): Promise<void> {
  const { deletedCount } = await store.sessions.deleteOne({ _id: before._id }, { session: transaction });
  if (deletedCount === 0) throw sessionOver();
  await store.sessions.insertOne(after, { session: transaction });
}
