import { newId } from "@vvs/ids";
import { inTransaction, isDuplicateKey } from "@vvs/mongo";
import type { ClientSession } from "mongodb";
import { type Actor, userEntry } from "../audit/audit.ts";
import type { Mails } from "../mail/queue.ts";
import { forgetRemoval } from "../members/membership.ts";
import { checkedRole } from "../model/roles.ts";
import type { Basics } from "../parts.ts";
import { invalid, missing } from "../refusals.ts";
import type { AccountStore, UserDocument } from "../store.ts";
import type { Passwords } from "./passwords.ts";

const MAX_EMAIL_LENGTH = 254;

export type Users = ReturnType<typeof createUsers>;

export function createUsers(options: Basics & Mails & { passwords: Passwords }) {
  const { client, store, audit, mailQueue, texts, passwords, now } = options;

  /** Returns the user of an address, compared ignoring case. */
  async function find(email: string): Promise<UserDocument | undefined> {
    return (await store.users.findOne({ email: normalizedEmail(email) })) ?? undefined;
  }

  /** Adds a user with checked values to an existing organization. Errors: invalid_request (the address is taken). */
  async function insert(session: ClientSession, by: Actor, user: UserDocument): Promise<void> {
    await store.users.insertOne(user, { session }).catch((error: unknown) => {
      throw isDuplicateKey(error, "email") ? invalid("email", "belongs to a user already") : error;
    });
    await forgetRemoval(store, user, session);
    await audit.append(session, by, userEntry("user.created", user, { role: user.role }));
  }

  return {
    find,
    insert,

    /**
     * Creates a user, by default an owner. Errors: not_found (the organization), invalid_request (email, also if it is
     * taken; password; role).
     */
    async create(
      by: Actor,
      input: { organizationId: string; email: string; password: string; role?: string },
    ): Promise<UserDocument> {
      const email = checkedEmail(input.email);
      const role = checkedRole(input.role ?? "owner");
      const at = now();
      const password_hash = await passwords.hash(input.password, "known");
      const organization_id = input.organizationId;
      const user = { _id: newId("usr", at), email, password_hash, organization_id, role, created_at: at };
      await inTransaction(client, async (session) => {
        const organization = await store.organizations.findOne({ _id: organization_id }, { session });
        if (!organization) throw missing("organization");
        await insert(session, by, user);
      });
      return user;
    },

    /** Sets a new password and ends the user's sessions. Errors: not_found, invalid_request. */
    async setPassword(by: Actor, input: { email: string; password: string }): Promise<UserDocument> {
      const passwordHash = await passwords.hash(input.password, "known");
      return inTransaction(client, async (session) => {
        const user = await store.users.findOneAndUpdate(
          { email: normalizedEmail(input.email) },
          newPassword(passwordHash),
          { session, returnDocument: "after" },
        );
        if (!user) throw missing("user");
        await store.sessions.deleteMany({ user_id: user._id }, { session });
        await audit.append(session, by, userEntry("user.password_set", user));
        await mailQueue.enqueue(session, texts.passwordChanged({ to: user.email, at: now() }));
        return user;
      });
    },

    /** Returns the user with this address and password. */
    async verifyPassword(email: string, password: string): Promise<UserDocument | undefined> {
      const user = await find(email);
      return user && (await passwords.matches(user.password_hash, password, "known")) ? user : undefined;
    },
  };
}

/** Returns the update for a new password. A session of before knows the secret of an app that was being set up. */
export function newPassword(passwordHash: string) {
  return { $set: { password_hash: passwordHash }, $unset: { totp_setup: true } } as const;
}

/** Returns an address as it is stored and compared. */
export function normalizedEmail(text: string): string {
  return text.trim().toLowerCase();
}

/** Returns an address, normalized. Errors: invalid_request. */
export function checkedEmail(text: string): string {
  const email = normalizedEmail(text);
  if (email.length <= MAX_EMAIL_LENGTH && /^[^\s@]+@[^\s@]+$/.test(email)) return email;
  throw invalid("email", "must be an email address");
}

/** Returns the email addresses of an organization's users by their ids. */
export async function emailsOfUsers(store: AccountStore, organizationId: string): Promise<ReadonlyMap<string, string>> {
  const users = store.users.find({ organization_id: organizationId }, { projection: { email: 1 } });
  return new Map((await users.toArray()).map(({ _id, email }) => [_id, email]));
}
