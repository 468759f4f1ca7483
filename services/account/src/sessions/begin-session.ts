import type { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { ClientSession, Filter } from "mongodb";
import { type AuditEntry, userEntry } from "../audit/audit.ts";
import type { Basics } from "../parts.ts";
import type { AccountStore, SessionDocument, UserDocument } from "../store.ts";
import type { SignInLimits } from "./attempt-limits.ts";
import type { KnownDevices } from "./known-devices.ts";
import { type LiveSessions, type SignedIn, sessionOver } from "./live-sessions.ts";
import { actorOf, type SessionCaller } from "./own-sessions.ts";
import { newSession, newSessionToken, type SessionPlace, sessionId } from "./sessions.ts";

/** A session that has just begun, and its token, which is stored nowhere. */
export interface BegunSession {
  readonly token: string;
  readonly session: SignedIn;
  /** For the browser that signed in: makes it a known device. Absent if a session was continued. */
  readonly deviceToken?: string;
}

/** What beginning a session takes. */
export interface SessionParts extends Basics {
  readonly liveSessions: LiveSessions;
  readonly limits: Pick<SignInLimits, "countSession">;
  readonly devices: Pick<KnownDevices, "issue">;
}

/** Begins a session of a user who proved who they are. Errors: `refused`, `suspended`, those of `use`; rate_limited. */
export async function beginSession(
  { client, store, audit, liveSessions, limits, devices, now }: SessionParts,
  begin: {
    user: UserDocument;
    place: SessionPlace;
    /** Fields in which the session differs from one that begins with a password. */
    fields?: Partial<SessionDocument>;
    /** What must still be true of the user in the transaction. */
    filter?: Filter<UserDocument>;
    changes?: Partial<UserDocument>;
    details?: AuditEntry["details"];
    /** Runs first in the transaction: uses up the proof. */
    use?: (at: Date, transaction: ClientSession) => Promise<void>;
    refused: () => ServiceError;
    /** The organization is suspended; like `refused` where absent. */
    suspended?: () => ServiceError;
  },
): Promise<BegunSession> {
  const { user, place, refused, suspended = refused } = begin;
  const token = newSessionToken();
  const at = now();
  const session = { ...newSession(token, user, at, place), ...begin.fields };
  const signedIn = await liveSessions.describe(session);
  if (!signedIn) throw suspended();
  await limits.countSession(user._id);
  await inTransaction(client, async (transaction) => {
    await begin.use?.(at, transaction);
    // A user who changes meanwhile conflicts here: no session outlives the password that it began with.
    const { matchedCount } = await store.users.updateOne(
      { ...begin.filter, _id: user._id },
      { $set: { ...begin.changes, last_signed_in_at: at } },
      { session: transaction },
    );
    if (matchedCount === 0) throw refused();
    await store.sessions.insertOne(session, { session: transaction });
    const by = { actor: user._id, clientAddress: place.clientAddress };
    await audit.append(transaction, by, userEntry("user.signed_in", user, begin.details));
  });
  return { token, session: signedIn, deviceToken: devices.issue(user._id) };
}

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
