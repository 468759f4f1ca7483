import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { inTransaction, isDuplicateKey } from "@vvs/mongo";
import type { ClientSession, MongoClient } from "mongodb";
import type { Actor, AuditLog } from "../audit/audit.ts";
import type { MailQueue } from "../mail/queue.ts";
import type { MailTexts } from "../mail/texts.ts";
import { forgetRemoval } from "../organizations/removed-members.ts";
import { checkedRole } from "../organizations/roles.ts";
import type { AccountStore, UserDocument } from "../store.ts";
import { hashPassword, matchesPassword, NOBODYS_HASH } from "./passwords.ts";

export interface Users {
  /** An owner where no role is given. Errors: not_found (the organization), invalid_request (address, also one that is taken, password, role). */
  create(
    by: Actor,
    input: { organizationId: string; email: string; password: string; role?: string },
  ): Promise<UserDocument>;
  /** Adds a user of an organization that is there, whose values were checked. Errors: invalid_request (an address that is taken). */
  insert(session: ClientSession, by: Actor, user: UserDocument): Promise<void>;
  /** Sets a new password and ends the user's sessions. Errors: not_found, invalid_request. */
  setPassword(by: Actor, input: { email: string; password: string }): Promise<UserDocument>;
  /** The addresses of an organization's users, by their ids. */
  emails(organizationId: string): Promise<ReadonlyMap<string, string>>;
  /** The user of an address, compared without case. */
  find(email: string): Promise<UserDocument | undefined>;
  /** The user whose address and password these are; takes as long where there is no such user. */
  verifyPassword(email: string, password: string): Promise<UserDocument | undefined>;
}

const MAX_EMAIL_LENGTH = 254;

export function createUsers(options: {
  client: MongoClient;
  store: AccountStore;
  audit: AuditLog;
  mailQueue: MailQueue;
  texts: MailTexts;
  now: () => Date;
}): Users {
  const { client, store, audit, mailQueue, texts, now } = options;

  async function findUser(email: string): Promise<UserDocument | undefined> {
    return (await store.users.findOne({ email: normalizedEmail(email) })) ?? undefined;
  }

  async function insertUser(session: ClientSession, by: Actor, user: UserDocument): Promise<void> {
    await store.users.insertOne(user, { session }).catch((error: unknown) => {
      throw isDuplicateKey(error, "email") ? invalidEmail("belongs to a user already") : error;
    });
    await forgetRemoval(store, user, session);
    const { _id: target, organization_id: organizationId, role } = user;
    await audit.append(session, by, { action: "user.created", organizationId, target, details: { role } });
  }

  return {
    find: findUser,
    insert: insertUser,

    async emails(organizationId) {
      const users = store.users.find({ organization_id: organizationId }, { projection: { email: 1 } });
      return new Map((await users.toArray()).map(({ _id, email }) => [_id, email]));
    },

    async create(by, input) {
      const email = checkedEmail(input.email);
      const role = checkedRole(input.role ?? "owner");
      const at = now();
      const user: UserDocument = {
        _id: newId("usr", at),
        email,
        password_hash: await hashPassword(input.password),
        organization_id: input.organizationId,
        role,
        created_at: at,
      };
      await inTransaction(client, async (session) => {
        const organization = await store.organizations.findOne({ _id: input.organizationId }, { session });
        if (!organization) throw new ServiceError("not_found", { message: "There is no such organization." });
        await insertUser(session, by, user);
      });
      return user;
    },

    async setPassword(by, input) {
      const passwordHash = await hashPassword(input.password);
      return inTransaction(client, async (session) => {
        const user = await store.users.findOneAndUpdate(
          { email: normalizedEmail(input.email) },
          { $set: { password_hash: passwordHash } },
          { session, returnDocument: "after" },
        );
        if (!user) throw new ServiceError("not_found", { message: "There is no such user." });
        await store.sessions.deleteMany({ user_id: user._id }, { session });
        await audit.append(session, by, {
          action: "user.password_set",
          organizationId: user.organization_id,
          target: user._id,
        });
        await mailQueue.enqueue(session, texts.passwordChanged({ to: user.email, at: now() }));
        return user;
      });
    },

    async verifyPassword(email, password) {
      const user = await findUser(email);
      const matches = await matchesPassword(user?.password_hash ?? NOBODYS_HASH, password);
      return matches ? user : undefined;
    },
  };
}

/** An address as it is stored and compared. */
export function normalizedEmail(text: string): string {
  return text.trim().toLowerCase();
}

/** The address, normalized. Errors: invalid_request. */
export function checkedEmail(text: string): string {
  const email = normalizedEmail(text);
  if (email.length <= MAX_EMAIL_LENGTH && /^[^\s@]+@[^\s@]+$/.test(email)) return email;
  throw invalidEmail("must be an e-mail address");
}

function invalidEmail(message: string): ServiceError {
  return new ServiceError("invalid_request", { details: [{ path: "email", message }] });
}
