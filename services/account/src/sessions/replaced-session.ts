import { inTransaction } from "@vvs/mongo";
import type { ClientSession } from "mongodb";
import type { AuditEntry } from "../audit/audit.ts";
import type { Basics } from "../parts.ts";
import type { AccountStore, SessionDocument } from "../store.ts";
import type { BegunSession } from "./begin-session.ts";
import { type SignedIn, sessionOver } from "./live-sessions.ts";
import { actorOf, type SessionCaller } from "./own-sessions.ts";
import { newSessionToken, sessionId } from "./sessions.ts";

/**
 * Replaces a session by another one; of two concurrent attempts one succeeds. A new password ends all sessions, so none
 * is replaced after its user was identified by an earlier password. Errors: unauthorized (it has ended).
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

/**
 * Continues a session under a new token after its user confirmed their identity. `use` runs first in the transaction.
 * Errors: unauthorized (it has ended), those of `use`.
 */
export async function proveSession(
  { client, store, audit, now }: Basics,
  proven: {
    caller: SessionCaller;
    session: SessionDocument;
    signedIn: SignedIn;
    entry: AuditEntry;
    use?: (at: Date, transaction: ClientSession) => Promise<void>;
  },
): Promise<BegunSession> {
  const { session, signedIn } = proven;
  const token = newSessionToken();
  const at = now();
  const after = { ...session, _id: sessionId(token), last_seen_at: at, authenticated_at: at };
  await inTransaction(client, async (transaction) => {
    await proven.use?.(at, transaction);
    await replaceSession(store, { before: session, after }, transaction);
    await audit.append(transaction, actorOf(proven.caller, session.user_id), proven.entry);
  });
  return { token, session: { ...signedIn, authenticatedAt: at } };
}
