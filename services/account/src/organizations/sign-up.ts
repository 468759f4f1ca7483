import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { afterEffect, inTransaction } from "@vvs/mongo";
import { type Actor, userEntry } from "../audit/audit.ts";
import type { Mails } from "../mail/queue.ts";
import type { Basics } from "../parts.ts";
import { checkedName } from "../refusals.ts";
import type { MailLimits, SignInLimits } from "../sessions/attempt-limits.ts";
import { createOneTimeTokens } from "../sessions/one-time-tokens.ts";
import type { SessionPlace } from "../sessions/sessions.ts";
import { newestSignUp, type SignIns } from "../sign-in/sign-in.ts";
import type { OneTimeToken, SignUpDocument, UserDocument } from "../store.ts";
import type { Passwords } from "../users/passwords.ts";
import { checkedEmail, type Users } from "../users/users.ts";
import { MAX_NAME_LENGTH, type Organizations } from "./organizations.ts";

/** How long the link of a sign-up is valid. */
export const SIGN_UP_MS = 24 * 60 * 60_000;
/** The plan of a new organization. */
const PLAN = "starter";

export function createSignUps(
  options: Basics &
    Mails & {
      /** Whether anyone can sign up. Sign-ups that have begun can be confirmed in any case. */
      open: boolean;
      organizations: Pick<Organizations, "insert">;
      users: Pick<Users, "find" | "insert">;
      signIns: Pick<SignIns, "beginFirst">;
      passwords: Passwords;
      signInLimits: SignInLimits;
      mailLimits: MailLimits;
    },
) {
  const { client, store, users, passwords, mailQueue, texts, audit, now } = options;
  const links = createOneTimeTokens({ tokens: store.signUps, lifetimeMs: SIGN_UP_MS, now });

  function expectOpen(): void {
    if (options.open) return;
    const message = "Signing up is not possible here. Ask an owner of your organization for an invitation.";
    throw new ServiceError("not_found", { message });
  }

  async function sendLink(input: Omit<SignUpDocument, keyof OneTimeToken | "created_at">): Promise<void> {
    const request = { to: input.email, clientAddress: input.client_address, at: input.asked_at };
    await inTransaction(client, async (session) => {
      const token = await links.issue({ ...input, created_at: now() }, session);
      await mailQueue.enqueue(session, texts.signUp(request, { token }));
    });
  }

  async function mailOwner(email: string, clientAddress: string): Promise<void> {
    const request = { to: email, clientAddress, at: now() };
    await inTransaction(client, (session) => mailQueue.enqueue(session, texts.signUpAgain(request)));
  }

  async function find(token: string): Promise<SignUpDocument> {
    const found = await links.find(token);
    // The address may have got an account meanwhile, by an invitation, by the operator or by another link.
    if (!found || (await users.find(found.email))) throw linkOver();
    return found;
  }

  async function createAccount(signUp: SignUpDocument, clientAddress: string): Promise<UserDocument> {
    const at = now();
    const userId = newId("usr", at);
    const by: Actor = { actor: userId, clientAddress };
    return inTransaction(client, async (session) => {
      const { email, password_hash } = signUp;
      const { deletedCount } = await store.signUps.deleteMany({ email }, { session });
      if (deletedCount === 0) throw linkOver();
      const input = { name: signUp.organization_name, plan: PLAN };
      const { _id: organization_id } = await options.organizations.insert(session, by, input);
      const user = { _id: userId, email, password_hash, organization_id, role: "owner", created_at: at } as const;
      await users.insert(session, by, user);
      const origin = { asked_at: signUp.asked_at.toISOString(), asked_from: signUp.client_address };
      await audit.append(session, by, userEntry("user.signed_up", user, origin));
      await audit.append(session, by, userEntry("user.email_confirmed", user));
      return user;
    });
  }

  return {
    /**
     * Stores a sign-up and sends an email with its link. If the address has an account, the email says so instead.
     * Errors: not_found (closed), invalid_request (organization_name, email, password), rate_limited.
     */
    async begin(input: { organizationName: string; email: string; password: string; clientAddress: string }) {
      expectOpen();
      const organization_name = checkedName(input.organizationName, "organization_name", MAX_NAME_LENGTH);
      const email = checkedEmail(input.email);
      const { clientAddress } = input;
      await options.mailLimits.count("sign_up", { email, clientAddress });
      // In any case, so that the duration does not reveal whether there is an account.
      const password_hash = await passwords.hash(input.password, "stranger");
      if (await users.find(email)) return mailOwner(email, clientAddress);
      await sendLink({ email, password_hash, organization_name, client_address: clientAddress, asked_at: now() });
    },

    /**
     * Sends a link of the newest sign-up of the address, if there is one. Earlier links stay valid.
     * Errors: not_found (closed), invalid_request (email), rate_limited.
     */
    async resend(input: { email: string; clientAddress: string }) {
      expectOpen();
      const email = checkedEmail(input.email);
      await options.mailLimits.count("sign_up", { email, clientAddress: input.clientAddress });
      if (await users.find(email)) return mailOwner(email, input.clientAddress);
      const newest = await newestSignUp(store, email, now());
      if (newest) await sendLink(newest);
    },

    /** Errors: not_found (the link is used, expired or unknown). */
    async get(token: string): Promise<{ email: string; organizationName: string }> {
      const { email, organization_name: organizationName } = await find(token);
      return { email, organizationName };
    },

    /**
     * Creates the organization with its owner and signs them in. Requires both the link of the email and the password
     * of the form, so that signing up with another person's address is of no use.
     * Errors: not_found (the link), unauthorized (the password), rate_limited.
     */
    async confirm({ token, password, ...place }: SessionPlace & { token: string; password: string }) {
      const signUp = await find(token);
      const attempt = { email: signUp.email, clientAddress: place.clientAddress };
      await options.signInLimits.count(attempt);
      if (!(await passwords.matches(signUp.password_hash, password, "known"))) {
        throw new ServiceError("unauthorized", { message: "This is not the password you signed up with." });
      }
      await options.signInLimits.forgive(attempt);
      const user = await createAccount(signUp, place.clientAddress);
      return options.signIns.beginFirst(user, place).catch(afterEffect);
    },
  };
}

function linkOver(): ServiceError {
  return new ServiceError("not_found", { message: "This link has expired or was already used. Sign up again." });
}
