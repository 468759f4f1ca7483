import { release } from "@vvs/deadline";
import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import { userEntry } from "../audit/audit.ts";
import type { FailedSignIns } from "../audit/failed-sign-ins.ts";
import type { SignInLimits } from "../sessions/attempt-limits.ts";
import { type BegunSession, beginSession, type SessionParts } from "../sessions/begin-session.ts";
import type { KnownDevices } from "../sessions/known-devices.ts";
import type { SignedIn } from "../sessions/live-sessions.ts";
import { createOneTimeTokens } from "../sessions/one-time-tokens.ts";
import { type SessionPlace, sessionId } from "../sessions/sessions.ts";
import type { IdentityProviders } from "../sso/identity-providers.ts";
import type { AccountStore, SignUpDocument, UserDocument } from "../store.ts";
import { NOBODYS_HASH, type Passwords } from "../users/passwords.ts";
import type { SecondFactor } from "../users/second-factor.ts";
import { normalizedEmail, type Users } from "../users/users.ts";

/** How long a second step may take. */
export const SECOND_STEP_MS = 5 * 60_000;

/** Thrown if the password is right and a code is required too. */
export class SecondStepError extends Error {
  readonly secondStepToken: string;

  constructor(secondStepToken: string) {
    super("a second factor is required");
    this.secondStepToken = secondStepToken;
  }
}

/** Thrown if the password is that of a sign-up whose address is not confirmed yet. */
export class EmailUnconfirmedError extends Error {}

export type SignIns = ReturnType<typeof createSignIns>;

export function createSignIns(
  options: SessionParts & {
    users: Pick<Users, "find">;
    secondFactor: Pick<SecondFactor, "useCode">;
    limits: SignInLimits;
    devices: KnownDevices;
    failedSignIns: FailedSignIns;
    passwords: Pick<Passwords, "inTurn" | "matches">;
    identityProviders: IdentityProviders;
  },
) {
  const { failedSignIns, identityProviders, users, liveSessions, secondFactor, limits, devices } = options;
  const { client, store, audit, now } = options;
  const secondSteps = createOneTimeTokens({ tokens: store.secondSteps, lifetimeMs: SECOND_STEP_MS, now });

  /** Returns the id of the device with this token, if it signed in the user of the address before. */
  async function deviceOf(token: string | undefined, email: string): Promise<string | undefined> {
    const user = token ? await users.find(email) : undefined;
    return user && devices.idOf(token!, user._id);
  }

  return {
    /**
     * Begins a session. Errors: SecondStepError if a code is required too; EmailUnconfirmedError; unauthorized, with the
     * same text for any cause (unknown user, wrong password, suspended organization); forbidden (the password is right,
     * but the organization only signs in with its identity provider); rate_limited.
     */
    async signIn({
      email: typed,
      password,
      deviceToken,
      ...place
    }: SessionPlace & { email: string; password: string; deviceToken?: string }): Promise<BegunSession> {
      const email = normalizedEmail(typed);
      const device = await deviceOf(deviceToken, email);
      const attempt = { email, clientAddress: place.clientAddress, device };
      const asker = device ? "known" : "stranger";
      // A caller with no attempts left is refused before the queue, so that it delays nobody.
      await limits.refuseFull(attempt);
      const user = await options.passwords.inTurn(asker, async () => {
        await limits.count(attempt);
        // Always both look-ups and one comparison, so that the duration reveals nothing.
        const [user, signUp] = await Promise.all([users.find(email), newestSignUp(store, email, now())]);
        const hash = (user ?? signUp)?.password_hash ?? NOBODYS_HASH;
        if (await options.passwords.matches(hash, password, asker)) return user;
        if (user) failedSignIns.count(user, "wrong_passwords", place.clientAddress);
        throw wrong();
      });
      if (!user) throw new EmailUnconfirmedError("the email address is not confirmed yet");
      identityProviders.refuseOtherSignIn(user);
      const { _id: user_id, password_hash } = user;
      if (user.totp) throw new SecondStepError(await secondSteps.issue({ user_id, password_hash }));
      // The password is not enough if an authenticator app was turned on meanwhile.
      const filter = { password_hash, totp: { $exists: false } };
      const begun = await beginSession(options, { user, place, filter, refused: wrong });
      await release(() => limits.forgive(attempt));
      return begun;
    },

    /**
     * Begins a session with the second step. Errors: unauthorized (the step has expired, or the code is wrong or used),
     * rate_limited.
     */
    async finish({
      secondStepToken,
      code,
      deviceToken,
      ...place
    }: SessionPlace & { secondStepToken: string; code: string; deviceToken?: string }): Promise<BegunSession> {
      const step = await secondSteps.find(secondStepToken);
      const user = step && (await store.users.findOne({ _id: step.user_id }));
      if (!step || !user) throw wrongCode();
      const device = devices.idOf(deviceToken ?? "", user._id);
      const attempt = { email: user.email, clientAddress: place.clientAddress, device };
      await limits.count(attempt);
      const begun = await beginSession(options, {
        user,
        place,
        filter: { password_hash: step.password_hash },
        refused: wrong,
        async use(_at, transaction) {
          const isUnused = await secondSteps.useUp(secondStepToken, transaction);
          if (!isUnused || !(await secondFactor.useCode(user, code, transaction))) throw wrongCode();
        },
      }).catch((error: unknown) => {
        if (error instanceof WrongCodeError) failedSignIns.count(user, "wrong_codes", place.clientAddress);
        throw error;
      });
      // Twice, because both steps were counted. The first step forgives nothing: else a known password would allow any
      // number of attempts.
      for (let steps = 0; steps < 2; steps++) {
        await release(() => limits.forgive(attempt));
      }
      return begun;
    },

    /**
     * Begins the first session of a user who has just become a member. Errors: unauthorized (suspended organization),
     * forbidden (the organization only signs in with its identity provider).
     */
    async beginFirst(user: UserDocument, place: SessionPlace): Promise<BegunSession> {
      identityProviders.refuseOtherSignIn(user);
      const filter = { password_hash: user.password_hash };
      return beginSession(options, { user, place, filter, refused: wrong });
    },

    /** Errors: unauthorized if the session is unknown or has ended. */
    getSession: async (token: string): Promise<SignedIn> => (await liveSessions.find(token)).signedIn,

    /** Ends a session, if there is one. */
    signOut: (token: string, clientAddress?: string): Promise<void> =>
      inTransaction(client, async (transaction) => {
        const session = await store.sessions.findOneAndDelete({ _id: sessionId(token) }, { session: transaction });
        if (!session) return;
        const user = { _id: session.user_id, organization_id: session.organization_id };
        await audit.append(transaction, { actor: user._id, clientAddress }, userEntry("user.signed_out", user));
      }),
  };
}

/** Returns the newest sign-up of an address that can still be confirmed. */
export async function newestSignUp(store: AccountStore, email: string, now: Date): Promise<SignUpDocument | null> {
  return store.signUps.findOne({ email, expires_at: { $gt: now } }, { sort: { created_at: -1 } });
}

function wrong(): ServiceError {
  return new ServiceError("unauthorized", { message: "The email address or the password is wrong." });
}

class WrongCodeError extends ServiceError {}

function wrongCode(): ServiceError {
  return new WrongCodeError("unauthorized", { message: "The code is wrong, expired or already used." });
}
