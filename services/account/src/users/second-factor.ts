import type { SecretKey } from "@vvs/config";
import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import { open, type Place, seal } from "@vvs/sealing";
import type { ClientSession } from "mongodb";
import { userEntry } from "../audit/audit.ts";
import type { Mails } from "../mail/queue.ts";
import type { Basics } from "../parts.ts";
import { invalid } from "../refusals.ts";
import { requireConfirmed } from "../sessions/callers-by-session.ts";
import { type LiveSessions, requireSession } from "../sessions/live-sessions.ts";
import { actorOf, type SessionCaller } from "../sessions/own-sessions.ts";
import type { SessionDocument, UserDocument } from "../store.ts";
import { matchingStep, newRecoveryCodes, newTotpSecret, recoveryHash, totpUri } from "./totp.ts";

/** How long the secret stays the same while its user sets up the app. */
const SETUP_MS = 15 * 60_000;

export type SecondFactor = ReturnType<typeof createSecondFactor>;

/** Authenticator apps of users, and their recovery codes. */
export function createSecondFactor(
  options: Basics & Mails & { liveSessions: LiveSessions; keys: readonly SecretKey[] },
) {
  const { client, store, liveSessions, audit, mailQueue, texts, keys, now } = options;

  /**
   * Runs `work` with the caller's user in a transaction that requires the caller's session. Errors: also unauthorized;
   * forbidden if the user has not confirmed their identity within the last minutes.
   */
  async function withOwnUser<T>(
    caller: SessionCaller,
    work: (user: UserDocument, session: ClientSession, current: SessionDocument) => Promise<T>,
  ): Promise<T> {
    const { session: current, signedIn } = await liveSessions.find(caller.token);
    requireConfirmed(signedIn, now());
    return inTransaction(client, async (session) => {
      await requireSession(store, current, session);
      const user = await store.users.findOne({ _id: current.user_id }, { session });
      return work(user!, session, current);
    });
  }

  return {
    /** Errors: unauthorized. */
    async get(caller: SessionCaller): Promise<{ enabledAt?: Date; recoveryCodesLeft: number }> {
      const { session } = await liveSessions.find(caller.token);
      const totp = (await store.users.findOne({ _id: session.user_id }))?.totp;
      return { enabledAt: totp?.enabled_at, recoveryCodesLeft: totp?.recovery_hashes.length ?? 0 };
    },

    /** Returns a secret for an app. Errors: unauthorized, invalid_request (there is a second factor already). */
    beginTotp: (caller: SessionCaller): Promise<{ secret: string; uri: string }> =>
      withOwnUser(caller, async (user, session) => {
        if (user.totp) throw refused("There is an authenticator app already.");
        const at = now();
        const begun = user.totp_setup;
        const isCurrent = begun && at.getTime() - begun.created_at.getTime() < SETUP_MS;
        const secret = isCurrent ? open(keys, totpPlace(user), begun.sealed) : newTotpSecret();
        if (!isCurrent) {
          const totp_setup = { sealed: seal(keys, totpPlace(user), secret), created_at: at };
          await store.users.updateOne({ _id: user._id }, { $set: { totp_setup } }, { session });
        }
        return { secret, uri: totpUri(secret, user.email) };
      }),

    /**
     * Makes sign-ins require a code, ends all other sessions, and returns the recovery codes, which are never shown
     * again. Errors: unauthorized, invalid_request (code).
     */
    enableTotp: (caller: SessionCaller, code: string): Promise<string[]> =>
      withOwnUser(caller, async (user, session, current) => {
        const sealed = user.totp_setup?.sealed;
        if (!sealed) throw refused("Set up an authenticator app first.");
        const at = now();
        const step = matchingStep(open(keys, totpPlace(user), sealed), code, { now: at, lastStep: 0 });
        if (step === undefined) throw invalid("code", "is not the code that the app shows now");
        const codes = newRecoveryCodes();
        const totp = { sealed, enabled_at: at, last_step: step, recovery_hashes: codes.map(recoveryHash) };
        const changes = { $set: { totp }, $unset: { totp_setup: true } } as const;
        await store.users.updateOne({ _id: user._id }, changes, { session });
        await store.sessions.deleteMany({ user_id: user._id, _id: { $ne: current._id } }, { session });
        await audit.append(session, actorOf(caller, user._id), userEntry("user.totp_enabled", user));
        const request = { to: user.email, clientAddress: caller.clientAddress, at };
        await mailQueue.enqueue(session, texts.authenticatorEnabled(request));
        return codes;
      }),

    /** Makes sign-ins require only the password. Repeatable. Errors: unauthorized. */
    disableTotp: (caller: SessionCaller): Promise<void> =>
      withOwnUser(caller, async (user, session) => {
        if (!user.totp) return;
        await store.users.updateOne({ _id: user._id }, { $unset: { totp: true } }, { session });
        await audit.append(session, actorOf(caller, user._id), userEntry("user.totp_disabled", user));
        const request = { to: user.email, clientAddress: caller.clientAddress, at: now() };
        await mailQueue.enqueue(session, texts.authenticatorDisabled(request));
      }),

    /** Uses up a code of the app or a recovery code. Returns false if it is wrong or was used. */
    async useCode(user: UserDocument, code: string, session: ClientSession): Promise<boolean> {
      const { totp } = user;
      if (!totp) return false;
      const secret = open(keys, totpPlace(user), totp.sealed);
      const step = matchingStep(secret, code, { now: now(), lastStep: totp.last_step });
      const hash = recoveryHash(code);
      // The filter decides: of two concurrent uses of one code, the second matches nothing.
      const { matchedCount } = step
        ? await store.users.updateOne(
            { _id: user._id, "totp.last_step": { $lt: step } },
            { $set: { "totp.last_step": step } },
            { session },
          )
        : await store.users.updateOne(
            { _id: user._id, "totp.recovery_hashes": hash },
            { $pull: { "totp.recovery_hashes": hash } },
            { session },
          );
      return matchedCount === 1;
    },
  };
}

/** Returns the place of a user's secret: copied to another user's document, it can't be decrypted. */
export function totpPlace(user: UserDocument): Place {
  return [user.organization_id, "", "users", user._id, "totp"];
}

function refused(message: string): ServiceError {
  return new ServiceError("invalid_request", { message });
}
