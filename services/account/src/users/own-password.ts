import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { MongoClient } from "mongodb";
import type { AuditLog } from "../audit/audit.ts";
import type { MailQueue } from "../mail/queue.ts";
import type { MailTexts } from "../mail/texts.ts";
import type { LiveSessions } from "../sessions/live-sessions.ts";
import { actorOf, type SessionCaller } from "../sessions/own-sessions.ts";
import { type ReplacedSession, replaceSession } from "../sessions/replaced-session.ts";
import { newSession, newSessionToken, sessionId } from "../sessions/sessions.ts";
import type { SignInLimits } from "../sessions/sign-in-limits.ts";
import type { AccountStore, UserDocument } from "../store.ts";
import { hashPassword } from "./passwords.ts";
import type { Users } from "./users.ts";

export interface OwnPassword {
  /**
   * Proves that the user themselves uses the session, which goes on under a new token and as long as before.
   * Errors: unauthorized (the session is over), invalid_request (password), rate_limited as sign-ins are.
   */
  reauthenticate(caller: SessionCaller, password: string): Promise<ReplacedSession>;
  /**
   * Sets a new password, ends all sessions of the user and begins a new one. Errors: unauthorized (the session is
   * over), invalid_request (current_password, password), rate_limited as sign-ins are.
   */
  change(caller: SessionCaller, input: { current: string; password: string }): Promise<ReplacedSession>;
}

/** What a signed-in user does with their password; a thief of a session can't guess it faster than by signing in. */
export function createOwnPassword(options: {
  client: MongoClient;
  store: AccountStore;
  users: Pick<Users, "verifyPassword">;
  liveSessions: LiveSessions;
  limits: SignInLimits;
  audit: AuditLog;
  mailQueue: MailQueue;
  texts: MailTexts;
  now: () => Date;
}): OwnPassword {
  const { client, store, users, liveSessions, limits, audit, mailQueue, texts, now } = options;

  /** The caller's session and user, whose password it is. */
  async function proven(caller: SessionCaller, password: string, path: string) {
    const { session, signedIn } = await liveSessions.find(caller.token);
    await limits.count(signedIn.email, caller.clientAddress);
    const user = await users.verifyPassword(signedIn.email, password);
    if (user?._id !== session.user_id) throw wrongPassword(path);
    await limits.forgive(signedIn.email, caller.clientAddress);
    return { session, signedIn, user };
  }

  return {
    async reauthenticate(caller, password) {
      const { session, signedIn, user } = await proven(caller, password, "password");
      const token = newSessionToken();
      const at = now();
      const after = { ...session, _id: sessionId(token), last_seen_at: at, authenticated_at: at };
      await inTransaction(client, async (transaction) => {
        await replaceSession(store, { before: session, after }, transaction);
        await audit.append(transaction, actorOf(caller, user._id), entryOf("user.reauthenticated", user));
      });
      return { token, session: { ...signedIn, authenticatedAt: at } };
    },

    async change(caller, { current, password }) {
      const { session, signedIn, user } = await proven(caller, current, "current_password");
      const passwordHash = await hashPassword(password);
      const token = newSessionToken();
      const at = now();
      const after = newSession(token, user, at, caller);
      await inTransaction(client, async (transaction) => {
        await replaceSession(store, { before: session, after }, transaction);
        const changes = { $set: { password_hash: passwordHash } };
        await store.users.updateOne({ _id: user._id }, changes, { session: transaction });
        await store.sessions.deleteMany({ user_id: user._id, _id: { $ne: after._id } }, { session: transaction });
        await audit.append(transaction, actorOf(caller, user._id), entryOf("user.password_changed", user));
        const { clientAddress } = caller;
        await mailQueue.enqueue(transaction, texts.passwordChanged({ to: user.email, clientAddress, at }));
      });
      return { token, session: { ...signedIn, expiresAt: after.expires_at, authenticatedAt: at } };
    },
  };
}

function wrongPassword(path: string): ServiceError {
  return new ServiceError("invalid_request", { details: [{ path, message: "is not your password" }] });
}

function entryOf(action: "user.reauthenticated" | "user.password_changed", user: UserDocument) {
  return { action, organizationId: user.organization_id, target: user._id } as const;
}
