import { inTransaction } from "@vvs/mongo";
import { userEntry } from "../audit/audit.ts";
import type { Mails } from "../mail/queue.ts";
import type { Basics } from "../parts.ts";
import { invalid } from "../refusals.ts";
import type { SignInLimits } from "../sessions/attempt-limits.ts";
import { type BegunSession, proveSession, replaceSession } from "../sessions/begin-session.ts";
import type { LiveSessions } from "../sessions/live-sessions.ts";
import { actorOf, type SessionCaller } from "../sessions/own-sessions.ts";
import { newSession, newSessionToken } from "../sessions/sessions.ts";
import type { UserDocument } from "../store.ts";
import type { Passwords } from "./passwords.ts";
import { newPassword } from "./users.ts";

/** What signed-in users do with their password. With a stolen session it can't be guessed faster than by signing in. */
export function createOwnPassword(
  options: Basics &
    Mails & {
      passwords: Passwords;
      liveSessions: LiveSessions;
      limits: SignInLimits;
      /** Errors: forbidden if the organization only signs in with its identity provider. */
      refuseOtherSignIn: (user: UserDocument) => void;
    },
) {
  const { client, store, passwords, liveSessions, limits, refuseOtherSignIn, audit, mailQueue, texts, now } = options;

  /** Returns the caller's session and user, if the password is right and the organization lets its members use it. */
  async function proven(caller: SessionCaller, password: string, path: string) {
    const { session, signedIn } = await liveSessions.find(caller.token);
    // Of this session, not of the account or the address: nobody else can use up the limit of a signed-in user.
    await limits.countConfirmation(session._id);
    const user = await store.users.findOne({ _id: session.user_id });
    if (!user || !(await passwords.matches(user.password_hash, password, "known"))) {
      throw invalid(path, "is not your password");
    }
    await limits.forgiveConfirmation(session._id);
    refuseOtherSignIn(user);
    return { session, signedIn, user };
  }

  return {
    /**
     * Confirms the identity of a session's user with their password. The session continues under a new token until the
     * same time. Errors: unauthorized (the session has ended), invalid_request (password), rate_limited, forbidden (the
     * organization only signs in with its identity provider).
     */
    async reauthenticate(caller: SessionCaller, password: string): Promise<BegunSession> {
      const found = await proven(caller, password, "password");
      const entry = userEntry("user.reauthenticated", found.user);
      return proveSession(options, { caller, ...found, entry });
    },

    /**
     * Sets a new password, ends all sessions of the user and begins a new one. Errors: unauthorized (the session has
     * ended), invalid_request (current_password, password), rate_limited, forbidden (as above).
     */
    async change(caller: SessionCaller, input: { current: string; password: string }): Promise<BegunSession> {
      const { session, signedIn, user } = await proven(caller, input.current, "current_password");
      const passwordHash = await passwords.hash(input.password, "known");
      const token = newSessionToken();
      const at = now();
      const after = newSession(token, user, at, caller);
      await inTransaction(client, async (transaction) => {
        await replaceSession(store, { before: session, after }, transaction);
        await store.users.updateOne({ _id: user._id }, newPassword(passwordHash), { session: transaction });
        await store.sessions.deleteMany({ user_id: user._id, _id: { $ne: after._id } }, { session: transaction });
        await audit.append(transaction, actorOf(caller, user._id), userEntry("user.password_changed", user));
        const { clientAddress } = caller;
        await mailQueue.enqueue(transaction, texts.passwordChanged({ to: user.email, clientAddress, at }));
      });
      return { token, session: { ...signedIn, expiresAt: after.expires_at, authenticatedAt: at } };
    },
  };
}
