import { release } from "@vvs/deadline";
import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { ClientSession } from "mongodb";
import { type Actor, userEntry } from "../audit/audit.ts";
import type { Mails } from "../mail/queue.ts";
import type { Basics } from "../parts.ts";
import type { MailLimits, SignInLimits } from "../sessions/attempt-limits.ts";
import type { KnownDevices } from "../sessions/known-devices.ts";
import { createOneTimeTokens } from "../sessions/one-time-tokens.ts";
import { sessionId } from "../sessions/sessions.ts";
import type { UserDocument } from "../store.ts";
import type { Passwords } from "./passwords.ts";
import { checkedEmail, newPassword, type Users } from "./users.ts";

/** How long a link is valid. */
export const RESET_MS = 60 * 60_000;

export function createPasswordResets(
  options: Basics &
    Mails & {
      users: Pick<Users, "find">;
      passwords: Passwords;
      devices: Pick<KnownDevices, "idOf">;
      signInLimits: SignInLimits;
      mailLimits: MailLimits;
    },
) {
  const { client, store, mailQueue, texts, audit, now } = options;
  const links = createOneTimeTokens({ tokens: store.passwordResets, lifetimeMs: RESET_MS, now });

  /** Returns the user of a link that is neither used nor expired, and whose password has not changed since. */
  async function find(token: string): Promise<UserDocument> {
    const reset = await links.find(token);
    const user = reset && (await store.users.findOne({ _id: reset.user_id, password_hash: reset.password_hash }));
    if (!user) throw linkOver();
    return user;
  }

  async function removePasskeys(session: ClientSession, by: Actor, user: UserDocument): Promise<number> {
    const own = { user_id: user._id };
    const removed = await store.passkeys.find(own, { session }).toArray();
    await store.passkeys.deleteMany(own, { session });
    for (const { name } of removed) {
      const details = { name, reason: "password_reset" };
      await audit.append(session, by, userEntry("user.passkey_removed", user, details));
    }
    return removed.length;
  }

  return {
    /** Sends an email with a link if the address has an account. Errors: invalid_request (email), rate_limited. */
    async request(input: { email: string; clientAddress: string; deviceToken?: string }): Promise<void> {
      const { clientAddress, deviceToken } = input;
      const email = checkedEmail(input.email);
      const user = await options.users.find(email);
      const device = user && deviceToken ? options.devices.idOf(deviceToken, user._id) : undefined;
      await options.mailLimits.count("reset", { email, clientAddress, device });
      if (!user) return;
      const at = now();
      await inTransaction(client, async (session) => {
        const token = await links.issue({ user_id: user._id, password_hash: user.password_hash }, session);
        await mailQueue.enqueue(session, texts.passwordReset({ to: email, clientAddress, at }, { token }));
        // Anyone can request a link, not only the user.
        const by = { actor: "anonymous", clientAddress };
        await audit.append(session, by, userEntry("user.password_reset_asked", user));
      });
    },

    /**
     * Returns the address of a link's account, and its number of passkeys. Errors: not_found (the link is used, expired
     * or unknown).
     */
    async get(token: string): Promise<{ email: string; passkeys: number }> {
      const { _id, email } = await find(token);
      return { email, passkeys: await store.passkeys.countDocuments({ user_id: _id }) };
    },

    /**
     * Sets the password and ends all sessions of the user; with `removePasskeys` also removes all passkeys. Begins no
     * session, so that the next sign-in asks for a code
     * if there is an authenticator app. Errors: not_found (the link), invalid_request (password), rate_limited.
     */
    async complete(input: {
      token: string;
      password: string;
      removePasskeys?: boolean;
      clientAddress: string;
    }): Promise<UserDocument> {
      const { token, clientAddress } = input;
      const user = await find(token);
      await options.signInLimits.countLinkUse(sessionId(token));
      const passwordHash = await options.passwords.hash(input.password, "known");
      const at = now();
      await inTransaction(client, async (session) => {
        // These two decide: of two concurrent uses of one link, the second matches nothing.
        const isUnused = await links.useUp(token, session);
        const unchanged = { _id: user._id, password_hash: user.password_hash };
        const { matchedCount } = await store.users.updateOne(unchanged, newPassword(passwordHash), { session });
        if (!isUnused || matchedCount === 0) throw linkOver();
        await store.passwordResets.deleteMany({ user_id: user._id }, { session });
        await store.sessions.deleteMany({ user_id: user._id }, { session });
        const by = { actor: user._id, clientAddress };
        await audit.append(session, by, userEntry("user.password_reset", user));
        const passkeysRemoved = input.removePasskeys === true && (await removePasskeys(session, by, user)) > 0;
        const changed = texts.passwordChanged({ to: user.email, clientAddress, at }, { passkeysRemoved });
        await mailQueue.enqueue(session, changed);
      });
      await release(() => options.signInLimits.forgiveAccount(user.email));
      return user;
    },
  };
}

function linkOver(): ServiceError {
  return new ServiceError("not_found", { message: "This link has expired or was already used. Request a new one." });
}
