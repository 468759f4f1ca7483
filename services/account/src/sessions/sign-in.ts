import { release } from "@vvs/deadline";
import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { ClientSession, MongoClient } from "mongodb";
import type { AuditLog } from "../audit/audit.ts";
import type { IdentityProvider, IdentityProviders } from "../sso/identity-providers.ts";
import type { AccountStore, UserDocument } from "../store.ts";
import { matchesPassword, NOBODYS_HASH } from "../users/passwords.ts";
import { newestSignUp } from "../users/pending-sign-up.ts";
import type { SecondFactor } from "../users/second-factor.ts";
import { normalizedEmail, type Users } from "../users/users.ts";
import type { LiveSessions, SignedIn } from "./live-sessions.ts";
import { newSession, newSessionToken, type SessionPlace, sessionId } from "./sessions.ts";
import type { SignInLimits } from "./sign-in-limits.ts";

/** How long a second step may take. */
export const SECOND_STEP_MS = 5 * 60_000;

/** Thrown where the password was right and a code is needed too. */
export class SecondStepError extends Error {
  readonly secondStepToken: string;

  constructor(secondStepToken: string) {
    super("a second factor is required");
    this.secondStepToken = secondStepToken;
  }
}

/** Thrown where the password is that of a sign-up whose address was not confirmed yet. */
export class EmailUnconfirmedError extends Error {}

export interface SignIns {
  /**
   * Begins a session. Errors: SecondStepError where a code is needed too, EmailUnconfirmedError, unauthorized with one text whatever the cause (no such user, wrong password, suspended
   * organization), forbidden (the password is right, but the organization signs in by its identity provider alone), rate_limited.
   */
  signIn(input: SessionPlace & { email: string; password: string }): Promise<{ token: string; session: SignedIn }>;
  /**
   * Begins a session by the second step. Errors: unauthorized (the step is over, or the code wrong or used),
   * rate_limited.
   */
  finish(
    input: SessionPlace & { secondStepToken: string; code: string },
  ): Promise<{ token: string; session: SignedIn }>;
  /** Errors: unauthorized where the session is unknown or over. */
  getSession(token: string): Promise<SignedIn>;
  /** Ends a session; nothing where there is none. */
  signOut(token: string, clientAddress?: string): Promise<void>;
}

export function createSignIns(options: {
  client: MongoClient;
  store: AccountStore;
  users: Pick<Users, "find">;
  liveSessions: LiveSessions;
  secondFactor: Pick<SecondFactor, "useCode">;
  limits: SignInLimits;
  identityProviders: IdentityProviders;
  audit: AuditLog;
  now: () => Date;
}): SignIns {
  const { identityProviders, client, store, users, liveSessions, secondFactor, limits, audit, now } = options;

  async function beginSecondStep(user: UserDocument): Promise<string> {
    const token = newSessionToken();
    await store.secondSteps.insertOne({
      _id: sessionId(token),
      user_id: user._id,
      password_hash: user.password_hash,
      expires_at: new Date(now().getTime() + SECOND_STEP_MS),
    });
    return token;
  }

  /** Begins a session of a user whose password that was, if `proof` holds in the same transaction. */
  async function begin(
    user: UserDocument,
    passwordHash: string,
    place: SessionPlace,
    proof?: (transaction: ClientSession) => Promise<boolean>,
  ): Promise<{ token: string; session: SignedIn }> {
    const token = newSessionToken();
    const session = newSession(token, user, now(), place);
    const view = await liveSessions.describe(session);
    if (!view) throw wrong();
    await inTransaction(client, async (transaction) => {
      if (proof && !(await proof(transaction))) throw wrongCode();
      // A password that changes meanwhile conflicts here: no session outlives the password it began with. Nor does the
      // password suffice once there is an authenticator app.
      const { matchedCount } = await store.users.updateOne(
        { _id: user._id, password_hash: passwordHash, ...(!proof && { totp: { $exists: false } }) },
        { $set: { last_signed_in_at: session.created_at } },
        { session: transaction },
      );
      if (matchedCount === 0) throw wrong();
      await store.sessions.insertOne(session, { session: transaction });
      const by = { actor: user._id, clientAddress: place.clientAddress };
      await audit.append(transaction, by, entryOf("user.signed_in", user));
    });
    return { token, session: view };
  }

  return {
    async signIn({ email: typed, password, ...place }) {
      const { clientAddress } = place;
      const email = normalizedEmail(typed);
      await limits.count(email, clientAddress);
      // Both look-ups and one comparison whatever there is, so that time does not tell.
      const [user, signUp] = await Promise.all([users.find(email), newestSignUp(store, email, now())]);
      const hash = (user ?? signUp)?.password_hash ?? NOBODYS_HASH;
      if (!(await matchesPassword(hash, password))) throw wrong();
      if (!user) throw new EmailUnconfirmedError("the email address is not confirmed yet");
      const provider = identityProviders.byOrganization(user.organization_id);
      if (provider?.required) throw byProviderAlone(provider);
      if (user.totp) throw new SecondStepError(await beginSecondStep(user));
      const begun = await begin(user, user.password_hash, place);
      await release(() => limits.forgive(email, clientAddress));
      return begun;
    },

    async finish({ secondStepToken, code, ...place }) {
      const step = await store.secondSteps.findOne({ _id: sessionId(secondStepToken), expires_at: { $gt: now() } });
      const user = step && (await store.users.findOne({ _id: step.user_id }));
      if (!step || !user) throw wrongCode();
      await limits.count(user.email, place.clientAddress);
      const begun = await begin(user, step.password_hash, place, async (transaction) => {
        const { deletedCount } = await store.secondSteps.deleteOne({ _id: step._id }, { session: transaction });
        return deletedCount === 1 && (await secondFactor.useCode(user, code, transaction));
      });
      // Twice, as both steps counted: the first one forgives nothing, or a known password would open any number of tries.
      for (let steps = 0; steps < 2; steps++) {
        await release(() => limits.forgive(user.email, place.clientAddress));
      }
      return begun;
    },

    getSession: async (token) => (await liveSessions.find(token)).signedIn,

    signOut: (token, clientAddress) =>
      inTransaction(client, async (transaction) => {
        const session = await store.sessions.findOneAndDelete({ _id: sessionId(token) }, { session: transaction });
        if (!session) return;
        const user = { _id: session.user_id, organization_id: session.organization_id };
        await audit.append(transaction, { actor: user._id, clientAddress }, entryOf("user.signed_out", user));
      }),
  };
}

function wrong(): ServiceError {
  return new ServiceError("unauthorized", { message: "The email address or the password is wrong." });
}

/** To who proved that they are a member, whose organization takes no other proof than its provider's. */
export function byProviderAlone({ name }: IdentityProvider): ServiceError {
  return new ServiceError("forbidden", {
    message: `Your organization signs in with ${name}. Use single sign-on.`,
  });
}

function wrongCode(): ServiceError {
  return new ServiceError("unauthorized", { message: "The code is wrong, expired or already used." });
}

function entryOf(action: "user.signed_in" | "user.signed_out", user: Pick<UserDocument, "_id" | "organization_id">) {
  return { action, organizationId: user.organization_id, target: user._id } as const;
}
