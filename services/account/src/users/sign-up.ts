import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { afterEffect, inTransaction } from "@vvs/mongo";
import type { MongoClient } from "mongodb";
import type { Actor, AuditLog } from "../audit/audit.ts";
import type { MailLimits } from "../mail/mail-limits.ts";
import type { MailQueue } from "../mail/queue.ts";
import type { MailTexts } from "../mail/texts.ts";
import { checkedName, type Organizations } from "../organizations/organizations.ts";
import { newSessionToken, type SessionPlace, sessionId } from "../sessions/sessions.ts";
import type { SignIns } from "../sessions/sign-in.ts";
import type { SignInLimits } from "../sessions/sign-in-limits.ts";
import type { AccountStore, SignUpDocument, UserDocument } from "../store.ts";
import { hashPassword, matchesPassword } from "./passwords.ts";
import { newestSignUp } from "./pending-sign-up.ts";
import { checkedEmail, type Users } from "./users.ts";

/** How long a link of a sign-up is good for. */
export const SIGN_UP_MS = 24 * 60 * 60_000;
/** What a new organization has agreed to. */
const PLAN = "starter";

export interface SignUps {
  /**
   * Mails a link to who signs up, and keeps nothing else but that. An address that has an account is mailed that it has.
   * Errors: not_found (closed), invalid_request (organization_name, email, password), rate_limited.
   */
  begin(input: { organizationName: string; email: string; password: string; clientAddress: string }): Promise<void>;
  /**
   * Mails a link of the newest sign-up of the address, if there is one; earlier links stay good.
   * Errors: not_found (closed), invalid_request (email), rate_limited.
   */
  resend(input: { email: string; clientAddress: string }): Promise<void>;
  /** Errors: not_found (the link was used, is over, or never was). */
  get(token: string): Promise<{ email: string; organizationName: string }>;
  /**
   * Creates the organization with its owner and signs them in, by the link of the mail and the password of the form: whoever
   * has one of the two alone, such as who signs up with another's address, gets nothing.
   * Errors: not_found (the link), unauthorized (the password), rate_limited.
   */
  confirm(input: SessionPlace & { token: string; password: string }): ReturnType<SignIns["signIn"]>;
}

export function createSignUps(options: {
  client: MongoClient;
  store: AccountStore;
  /** May anybody sign up? What was begun before can be ended in any case. */
  open: boolean;
  organizations: Pick<Organizations, "insert">;
  users: Pick<Users, "find" | "insert">;
  signIns: Pick<SignIns, "signIn">;
  signInLimits: SignInLimits;
  mailLimits: MailLimits;
  mailQueue: MailQueue;
  texts: MailTexts;
  audit: AuditLog;
  now: () => Date;
}): SignUps {
  const { client, store, users, mailQueue, texts, audit, now } = options;

  function expectOpen(): void {
    if (!options.open)
      throw new ServiceError("not_found", {
        message: "Signing up is not possible here. Ask an owner of your organization for an invitation.",
      });
  }

  async function begin(input: Omit<SignUpDocument, "_id" | "created_at" | "expires_at">): Promise<void> {
    const token = newSessionToken();
    const at = now();
    const asked = { to: input.email, clientAddress: input.client_address, at: input.asked_at };
    await inTransaction(client, async (session) => {
      const signUp = {
        ...input,
        _id: sessionId(token),
        created_at: at,
        expires_at: new Date(at.getTime() + SIGN_UP_MS),
      };
      await store.signUps.insertOne(signUp, { session });
      await mailQueue.enqueue(session, texts.signUp(asked, { token }));
    });
  }

  async function tellOwner(email: string, clientAddress: string): Promise<void> {
    const asked = { to: email, clientAddress, at: now() };
    await inTransaction(client, (session) => mailQueue.enqueue(session, texts.signUpAgain(asked)));
  }

  async function find(token: string): Promise<SignUpDocument> {
    const found = await store.signUps.findOne({ _id: sessionId(token), expires_at: { $gt: now() } });
    // By an invitation, by the operator, or by another link: the address has an account since then.
    if (!found || (await users.find(found.email))) throw linkOver();
    return found;
  }

  async function createAccount(signUp: SignUpDocument, clientAddress: string): Promise<void> {
    const at = now();
    const userId = newId("usr", at);
    const by: Actor = { actor: userId, clientAddress };
    await inTransaction(client, async (session) => {
      const { deletedCount } = await store.signUps.deleteMany({ email: signUp.email }, { session });
      if (deletedCount === 0) throw linkOver();
      const input = { name: signUp.organization_name, plan: PLAN };
      const { _id: organizationId } = await options.organizations.insert(session, by, input);
      const user: UserDocument = {
        _id: userId,
        email: signUp.email,
        password_hash: signUp.password_hash,
        organization_id: organizationId,
        role: "owner",
        created_at: at,
      };
      await users.insert(session, by, user);
      const entry = { organizationId, target: userId };
      const asked = { asked_at: signUp.asked_at.toISOString(), asked_from: signUp.client_address };
      await audit.append(session, by, { ...entry, action: "user.signed_up", details: asked });
      await audit.append(session, by, { ...entry, action: "user.email_confirmed" });
    });
  }

  return {
    async begin({ password, clientAddress, ...input }) {
      expectOpen();
      const organizationName = checkedName(input.organizationName, "organization_name");
      const email = checkedEmail(input.email);
      await options.mailLimits.count(email, clientAddress);
      // In any case, so that time does not tell whether there is an account.
      const passwordHash = await hashPassword(password);
      if (await users.find(email)) return tellOwner(email, clientAddress);
      await begin({
        email,
        password_hash: passwordHash,
        organization_name: organizationName,
        client_address: clientAddress,
        asked_at: now(),
      });
    },

    async resend({ email: typed, clientAddress }) {
      expectOpen();
      const email = checkedEmail(typed);
      await options.mailLimits.count(email, clientAddress);
      if (await users.find(email)) return tellOwner(email, clientAddress);
      const newest = await newestSignUp(store, email, now());
      if (newest) await begin(newest);
    },

    async get(token) {
      const { email, organization_name: organizationName } = await find(token);
      return { email, organizationName };
    },

    async confirm({ token, password, ...place }) {
      const signUp = await find(token);
      await options.signInLimits.count(signUp.email, place.clientAddress);
      if (!(await matchesPassword(signUp.password_hash, password))) {
        throw new ServiceError("unauthorized", { message: "This is not the password you signed up with." });
      }
      await options.signInLimits.forgive(signUp.email, place.clientAddress);
      await createAccount(signUp, place.clientAddress);
      return options.signIns.signIn({ ...place, email: signUp.email, password }).catch(afterEffect);
    },
  };
}

function linkOver(): ServiceError {
  return new ServiceError("not_found", { message: "This link has expired or was already used. Sign up again." });
}
