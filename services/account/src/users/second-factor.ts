import type { SecretKey } from "@vvs/config";
import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import { open, type Place, seal } from "@vvs/sealing";
import type { ClientSession, MongoClient } from "mongodb";
import type { AuditLog } from "../audit/audit.ts";
import type { MailQueue } from "../mail/queue.ts";
import type { MailTexts } from "../mail/texts.ts";
import { type LiveSessions, requireSession } from "../sessions/live-sessions.ts";
import { actorOf, type SessionCaller } from "../sessions/own-sessions.ts";
import type { AccountStore, UserDocument } from "../store.ts";
import { matchingStep, newRecoveryCodes, newTotpSecret, recoveryHash, totpUri } from "./totp.ts";

/** How long a secret stays the same while its user sets up the app. */
const SETUP_MS = 15 * 60_000;

export interface SecondFactor {
  /** Errors: unauthorized. */
  get(caller: SessionCaller): Promise<{ enabledAt?: Date; recoveryCodesLeft: number }>;
  /** A secret for an app. Errors: unauthorized, invalid_request (there is a second factor already). */
  beginTotp(caller: SessionCaller): Promise<{ secret: string; uri: string }>;
  /**
   * Has sign-ins ask for a code, ends all other sessions, and returns the recovery codes this once.
   * Errors: unauthorized, invalid_request (code).
   */
  enableTotp(caller: SessionCaller, code: string): Promise<string[]>;
  /** Repeatable. Errors: unauthorized. */
  disableTotp(caller: SessionCaller): Promise<void>;
  /** Uses a code of the app, or a recovery code, up; false where it is none, or was used. */
  useCode(user: UserDocument, code: string, transaction: ClientSession): Promise<boolean>;
}

export function createSecondFactor(options: {
  client: MongoClient;
  store: AccountStore;
  liveSessions: LiveSessions;
  audit: AuditLog;
  mailQueue: MailQueue;
  texts: MailTexts;
  keys: readonly SecretKey[];
  now: () => Date;
}): SecondFactor {
  const { client, store, liveSessions, audit, mailQueue, texts, keys, now } = options;

  async function ownUser(caller: SessionCaller) {
    const { session } = await liveSessions.find(caller.token);
    const user = await store.users.findOne({ _id: session.user_id });
    return { session, user: user! };
  }

  async function beginTotp(caller: SessionCaller): Promise<{ secret: string; uri: string }> {
    const { user } = await ownUser(caller);
    if (user.totp) throw refused("There is an authenticator app already.");
    const at = now();
    const { totp_setup: begun } = user;
    if (begun && at.getTime() - begun.created_at.getTime() < SETUP_MS) return setup(keys, user, begun.sealed);
    const setUp = { sealed: seal(keys, totpPlace(user), newTotpSecret()), created_at: at };
    const asSeen = {
      _id: user._id,
      totp: { $exists: false },
      "totp_setup.created_at": begun?.created_at ?? { $exists: false },
    };
    const { matchedCount } = await store.users.updateOne(asSeen, { $set: { totp_setup: setUp } });
    // Another tab began meanwhile: both show the same secret.
    return matchedCount === 1 ? setup(keys, user, setUp.sealed) : beginTotp(caller);
  }

  return {
    async get(caller) {
      const { totp } = (await ownUser(caller)).user;
      return { enabledAt: totp?.enabled_at, recoveryCodesLeft: totp?.recovery_hashes.length ?? 0 };
    },

    beginTotp,

    async enableTotp(caller, code) {
      const { session: current, user } = await ownUser(caller);
      const { totp_setup: setUp } = user;
      if (!setUp) throw refused("Set up an authenticator app first.");
      const at = now();
      const step = matchingStep(open(keys, totpPlace(user), setUp.sealed), code, { now: at, lastStep: 0 });
      if (step === undefined) throw wrongCode();
      const codes = newRecoveryCodes();
      const recovery_hashes = codes.map(recoveryHash);
      const totp = { sealed: setUp.sealed, enabled_at: at, last_step: step, recovery_hashes };
      await inTransaction(client, async (session) => {
        await requireSession(store, current, session);
        const filter = { _id: user._id, totp: { $exists: false }, "totp_setup.created_at": setUp.created_at };
        const { matchedCount } = await store.users.updateOne(
          filter,
          { $set: { totp }, $unset: { totp_setup: true } },
          { session },
        );
        if (matchedCount === 0) throw wrongCode();
        await store.sessions.deleteMany({ user_id: user._id, _id: { $ne: current._id } }, { session });
        await audit.append(session, actorOf(caller, user._id), entryOf("user.totp_enabled", user));
        const { clientAddress } = caller;
        await mailQueue.enqueue(session, texts.authenticatorEnabled({ to: user.email, clientAddress, at }));
      });
      return codes;
    },

    async disableTotp(caller) {
      const { session: current, user } = await ownUser(caller);
      await inTransaction(client, async (session) => {
        await requireSession(store, current, session);
        const filter = { _id: user._id, totp: { $exists: true } };
        const { matchedCount } = await store.users.updateOne(filter, { $unset: { totp: true } }, { session });
        if (matchedCount === 0) return;
        await audit.append(session, actorOf(caller, user._id), entryOf("user.totp_disabled", user));
        const asked = { to: user.email, clientAddress: caller.clientAddress, at: now() };
        await mailQueue.enqueue(session, texts.authenticatorDisabled(asked));
      });
    },

    async useCode(user, code, session) {
      const { totp } = user;
      if (!totp) return false;
      const secret = open(keys, totpPlace(user), totp.sealed);
      const step = matchingStep(secret, code, { now: now(), lastStep: totp.last_step });
      const hash = recoveryHash(code);
      // What decides is the filter: of two uses of one code at once, the second finds nothing.
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

function setup(keys: readonly SecretKey[], user: UserDocument, sealed: Parameters<typeof open>[2]) {
  const secret = open(keys, totpPlace(user), sealed);
  return { secret, uri: totpUri(secret, user.email) };
}

/** Bound to its user: a box copied to another one's document opens nothing. */
export function totpPlace(user: UserDocument): Place {
  return [user.organization_id, "", "users", user._id, "totp"];
}

function refused(message: string): ServiceError {
  return new ServiceError("invalid_request", { message });
}

function wrongCode(): ServiceError {
  const details = [{ path: "code", message: "is not the code that the app shows now" }];
  return new ServiceError("invalid_request", { details });
}

function entryOf(action: "user.totp_enabled" | "user.totp_disabled", user: UserDocument) {
  return { action, organizationId: user.organization_id, target: user._id } as const;
}
