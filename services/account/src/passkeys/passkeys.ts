import { ServiceError } from "@vvs/errors";
import { nameProblem } from "@vvs/identifiers/text";
import { newId } from "@vvs/ids";
import { inTransaction, isDuplicateKey } from "@vvs/mongo";
import type { MongoClient } from "mongodb";
import type { AuditLog } from "../audit/audit.ts";
import { type LiveSessions, requireSession, sessionOver } from "../sessions/live-sessions.ts";
import { actorOf, type SessionCaller } from "../sessions/own-sessions.ts";
import type { AccountStore, PasskeyDocument } from "../store.ts";
import type { PasskeyChallenges } from "./passkey-challenges.ts";
import { creationOptions, type RelyingParty, readResponse, verifiedCredential } from "./webauthn.ts";

export interface Passkeys {
  /** Of the caller, the newest first. Errors: unauthorized. */
  list(caller: SessionCaller): Promise<PasskeyDocument[]>;
  /** PublicKeyCredentialCreationOptionsJSON. Errors: unauthorized, limit_exceeded. */
  beginRegistration(caller: SessionCaller): Promise<string>;
  /** Keeps what the browser made. Errors: unauthorized, invalid_request (name, response), limit_exceeded. */
  add(caller: SessionCaller, input: { name: string; response: string }): Promise<PasskeyDocument>;
  /** Repeatable; nothing where it is not the caller's. Errors: unauthorized. */
  remove(caller: SessionCaller, id: string): Promise<void>;
}

export const MAX_PASSKEYS = 20;
const MAX_NAME_LENGTH = 100;

/** The passkeys that users have. */
export function createPasskeys(options: {
  client: MongoClient;
  store: AccountStore;
  liveSessions: LiveSessions;
  challenges: PasskeyChallenges;
  audit: AuditLog;
  rp: RelyingParty;
  now: () => Date;
}): Passkeys {
  const { client, store, liveSessions, challenges, audit, rp, now } = options;

  async function passkeysOf(userId: string): Promise<PasskeyDocument[]> {
    return store.passkeys.find({ user_id: userId }).sort({ created_at: -1, _id: -1 }).toArray();
  }

  return {
    async list(caller) {
      return passkeysOf((await liveSessions.find(caller.token)).session.user_id);
    },

    async beginRegistration(caller) {
      const { session, signedIn } = await liveSessions.find(caller.token);
      const known = await passkeysOf(session.user_id);
      refuseBeyondCap(known.length);
      const challenge = await challenges.issue({ purpose: "register", bound_to: session._id });
      return creationOptions(rp, { challenge, known, user: { id: session.user_id, email: signedIn.email } });
    },

    async add(caller, input) {
      const { session } = await liveSessions.find(caller.token);
      const name = checkedName(input.name);
      const response = readResponse(input.response);
      if (!response) throw wrongResponse();
      const isOurs = await challenges.take(response.challenge, { purpose: "register", bound_to: session._id });
      const credential = isOurs ? await verifiedCredential(rp, response) : undefined;
      if (!credential) throw wrongResponse();
      const at = now();
      const passkey: PasskeyDocument = {
        _id: newId("pky", at),
        user_id: session.user_id,
        organization_id: session.organization_id,
        credential_id: credential.credentialId,
        public_key: credential.publicKey,
        counter: credential.counter,
        transports: credential.transports,
        name,
        created_at: at,
      };
      await inTransaction(client, async (transaction) => {
        await requireSession(store, session, transaction);
        // Has whatever adds a passkey of this user at the same time count again, and finds nobody who was removed meanwhile.
        const added = { $inc: { passkeys_added: 1 } };
        const { matchedCount } = await store.users.updateOne({ _id: session.user_id }, added, { session: transaction });
        if (matchedCount === 0) throw sessionOver();
        const known = await store.passkeys.countDocuments({ user_id: session.user_id }, { session: transaction });
        refuseBeyondCap(known);
        await store.passkeys.insertOne(passkey, { session: transaction });
        await audit.append(transaction, actorOf(caller, session.user_id), entryOf("user.passkey_added", passkey));
      }).catch((error: unknown) => {
        throw isDuplicateKey(error, "credential_id") ? wrongResponse() : error;
      });
      return passkey;
    },

    async remove(caller, id) {
      const { session } = await liveSessions.find(caller.token);
      const filter = { _id: id, user_id: session.user_id };
      await inTransaction(client, async (transaction) => {
        await requireSession(store, session, transaction);
        const removed = await store.passkeys.findOneAndDelete(filter, { session: transaction });
        if (!removed) return;
        await audit.append(transaction, actorOf(caller, session.user_id), entryOf("user.passkey_removed", removed));
      });
    },
  };
}

function checkedName(text: string): string {
  const name = text.trim();
  const message = nameProblem(name, MAX_NAME_LENGTH);
  if (message === undefined) return name;
  throw new ServiceError("invalid_request", { details: [{ path: "name", message }] });
}

function refuseBeyondCap(known: number): void {
  if (known < MAX_PASSKEYS) return;
  throw new ServiceError("limit_exceeded", {
    message: `You can have at most ${MAX_PASSKEYS} passkeys. Remove one that you no longer use.`,
  });
}

/** One text for every cause: what exactly did not fit helps nobody but who made it up. */
function wrongResponse(): ServiceError {
  const details = [{ path: "response", message: "is not a passkey for this page, or came too late" }];
  return new ServiceError("invalid_request", { details });
}

function entryOf(action: "user.passkey_added" | "user.passkey_removed", passkey: PasskeyDocument) {
  const { organization_id: organizationId, user_id: target, name } = passkey;
  return { action, organizationId, target, details: { name } } as const;
}
