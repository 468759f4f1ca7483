import { release } from "@vvs/deadline";
import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { MongoClient } from "mongodb";
import type { Actor, AuditLog } from "../audit/audit.ts";
import type { MailLimits } from "../mail/mail-limits.ts";
import type { MailQueue } from "../mail/queue.ts";
import type { MailTexts } from "../mail/texts.ts";
import { newSessionToken, sessionId } from "../sessions/sessions.ts";
import type { SignInLimits } from "../sessions/sign-in-limits.ts";
import type { AccountStore, UserDocument } from "../store.ts";
import { hashPassword } from "./passwords.ts";
import { checkedEmail, type Users } from "./users.ts";

/** How long a link is good for. */
export const RESET_MS = 60 * 60_000;

export interface PasswordResets {
  /** Mails a link to the address if it has an account. Errors: invalid_request (email), rate_limited. */
  request(input: { email: string; clientAddress: string }): Promise<void>;
  /** The address of a link's account. Errors: not_found (the link was used, is over, or never was). */
  get(token: string): Promise<{ email: string }>;
  /**
   * Sets the password and ends all sessions of the user; begins none, so that the next sign-in asks for a code where there is
   * an authenticator app. Errors: not_found (the link), invalid_request (password).
   */
  complete(input: { token: string; password: string; clientAddress: string }): Promise<UserDocument>;
}

export function createPasswordResets(options: {
  client: MongoClient;
  store: AccountStore;
  users: Pick<Users, "find">;
  signInLimits: SignInLimits;
  mailLimits: MailLimits;
  mailQueue: MailQueue;
  texts: MailTexts;
  audit: AuditLog;
  now: () => Date;
}): PasswordResets {
  const { client, store, mailQueue, texts, audit, now } = options;

  /** The user of a link that is good: neither used nor over, and of the password that is still theirs. */
  async function find(token: string): Promise<UserDocument> {
    const reset = await store.passwordResets.findOne({ _id: sessionId(token), expires_at: { $gt: now() } });
    const user = reset && (await store.users.findOne({ _id: reset.user_id, password_hash: reset.password_hash }));
    if (!user) throw linkOver();
    return user;
  }

  return {
    async request({ email: typed, clientAddress }) {
      const email = checkedEmail(typed);
      await options.mailLimits.count(email, clientAddress);
      const user = await options.users.find(email);
      if (!user) return;
      const token = newSessionToken();
      const at = now();
      await inTransaction(client, async (session) => {
        const expires_at = new Date(at.getTime() + RESET_MS);
        const reset = { _id: sessionId(token), user_id: user._id, password_hash: user.password_hash, expires_at };
        await store.passwordResets.insertOne(reset, { session });
        await mailQueue.enqueue(session, texts.passwordReset({ to: email, clientAddress, at }, { token }));
        await audit.append(session, strangerAt(clientAddress), entryOf("user.password_reset_asked", user));
      });
    },

    async get(token) {
      return { email: (await find(token)).email };
    },

    async complete({ token, password, clientAddress }) {
      const user = await find(token);
      const passwordHash = await hashPassword(password);
      const at = now();
      await inTransaction(client, async (session) => {
        // What decides are these two: of two uses of one link at once, the second finds no link any more.
        const { deletedCount } = await store.passwordResets.deleteOne({ _id: sessionId(token) }, { session });
        const { matchedCount } = await store.users.updateOne(
          { _id: user._id, password_hash: user.password_hash },
          { $set: { password_hash: passwordHash } },
          { session },
        );
        if (deletedCount === 0 || matchedCount === 0) throw linkOver();
        await store.passwordResets.deleteMany({ user_id: user._id }, { session });
        await store.sessions.deleteMany({ user_id: user._id }, { session });
        await audit.append(session, { actor: user._id, clientAddress }, entryOf("user.password_reset", user));
        await mailQueue.enqueue(session, texts.passwordChanged({ to: user.email, clientAddress, at }));
      });
      await release(() => options.signInLimits.forgiveAccount(user.email));
      return user;
    },
  };
}

/** Who asks for a link need not be the user: anybody can. */
function strangerAt(clientAddress: string): Actor {
  return { actor: "anonymous", clientAddress };
}

function linkOver(): ServiceError {
  return new ServiceError("not_found", { message: "This link has expired or was already used. Request a new one." });
}

function entryOf(action: "user.password_reset_asked" | "user.password_reset", user: UserDocument) {
  return { action, organizationId: user.organization_id, target: user._id } as const;
}
