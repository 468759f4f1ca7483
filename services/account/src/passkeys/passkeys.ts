import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { inTransaction, isDuplicateKey } from "@vvs/mongo";
import { userEntry } from "../audit/audit.ts";
import type { Notices } from "../mail/notices.ts";
import type { Basics } from "../parts.ts";
import { checkedName, invalid } from "../refusals.ts";
import { requireConfirmed } from "../sessions/callers-by-session.ts";
import { type LiveSessions, requireSession, sessionOver } from "../sessions/live-sessions.ts";
import type { Tickets } from "../sessions/one-time-tokens.ts";
import { actorOf, type SessionCaller } from "../sessions/own-sessions.ts";
import type { PasskeyDocument } from "../store.ts";
import { creationOptions, type RelyingParty, readResponse, verifiedCredential } from "./webauthn.ts";

export const MAX_PASSKEYS = 20;
const MAX_NAME_LENGTH = 100;

/**
 * The passkeys that users have. All methods throw unauthorized if the caller's session has ended; changes throw forbidden
 * if the user has not confirmed their identity within the last minutes.
 */
export function createPasskeys(
  options: Basics & {
    liveSessions: LiveSessions;
    challenges: Tickets;
    notices: Pick<Notices, "tellUser">;
    rp: RelyingParty;
  },
) {
  const { client, store, liveSessions, challenges, notices, audit, rp, now } = options;

  const passkeysOf = (userId: string): Promise<PasskeyDocument[]> =>
    store.passkeys.find({ user_id: userId }).sort({ created_at: -1, _id: -1 }).toArray();

  async function confirmed(caller: SessionCaller) {
    const found = await liveSessions.find(caller.token);
    requireConfirmed(found.signedIn, now());
    return found;
  }

  return {
    /** Returns the caller's passkeys, newest first. */
    async list(caller: SessionCaller): Promise<PasskeyDocument[]> {
      return passkeysOf((await liveSessions.find(caller.token)).session.user_id);
    },

    /** Returns PublicKeyCredentialCreationOptionsJSON. Errors: also limit_exceeded. */
    async beginRegistration(caller: SessionCaller): Promise<string> {
      const { session, signedIn } = await confirmed(caller);
      const known = await passkeysOf(session.user_id);
      refuseBeyondCap(known.length);
      const { ticket: challenge } = challenges.issue("passkey register", session._id);
      return creationOptions(rp, { challenge, known, user: { id: session.user_id, email: signedIn.email } });
    },

    /** Stores the passkey that the browser created. Errors: also invalid_request (name, response), limit_exceeded. */
    async add(caller: SessionCaller, input: { name: string; response: string }): Promise<PasskeyDocument> {
      const { session } = await confirmed(caller);
      const name = checkedName(input.name, "name", MAX_NAME_LENGTH);
      const response = readResponse(input.response);
      if (!response) throw wrongResponse();
      const isOpen = challenges.read(response.challenge, "passkey register", session._id);
      const credential = isOpen ? await verifiedCredential(rp, response) : undefined;
      if (!credential || !(await challenges.useUp(response.challenge))) throw wrongResponse();
      const at = now();
      const { user_id, organization_id } = session;
      const passkey = { _id: newId("pky", at), user_id, organization_id, ...credential, name, created_at: at };
      await inTransaction(client, async (transaction) => {
        await requireSession(store, session, transaction);
        // Makes concurrent additions of this user conflict, and matches nothing if the user was removed meanwhile.
        const added = { $inc: { passkeys_added: 1 } };
        const user = await store.users.findOneAndUpdate({ _id: user_id }, added, { session: transaction });
        if (!user) throw sessionOver();
        refuseBeyondCap(await store.passkeys.countDocuments({ user_id }, { session: transaction }));
        await store.passkeys.insertOne(passkey, { session: transaction });
        const by = actorOf(caller, user_id);
        await audit.append(transaction, by, entryOf("user.passkey_added", passkey));
        const change = { subject: "A passkey was added", what: "added a passkey, with which one can sign in" };
        await notices.tellUser(transaction, by, user, change);
      }).catch((error: unknown) => {
        throw isDuplicateKey(error, "credential_id") ? wrongResponse() : error;
      });
      return passkey;
    },

    /** Deletes a passkey if it is the caller's. Repeatable. */
    async remove(caller: SessionCaller, id: string): Promise<void> {
      const { session } = await confirmed(caller);
      const filter = { _id: id, user_id: session.user_id };
      await inTransaction(client, async (transaction) => {
        await requireSession(store, session, transaction);
        const removed = await store.passkeys.findOneAndDelete(filter, { session: transaction });
        if (!removed) return;
        const by = actorOf(caller, session.user_id);
        await audit.append(transaction, by, entryOf("user.passkey_removed", removed));
        const user = await store.users.findOne({ _id: session.user_id }, { session: transaction });
        const change = { subject: "A passkey was removed", what: "removed a passkey" };
        if (user) await notices.tellUser(transaction, by, user, change);
      });
    },
  };
}

function refuseBeyondCap(known: number): void {
  if (known < MAX_PASSKEYS) return;
  throw new ServiceError("limit_exceeded", {
    message: `You can have at most ${MAX_PASSKEYS} passkeys. Remove one that you no longer use.`,
  });
}

/** Has the same text for any cause: details would only help an attacker. */
function wrongResponse(): ServiceError {
  return invalid("response", "is not a passkey for this page, or came too late");
}

function entryOf(action: "user.passkey_added" | "user.passkey_removed", passkey: PasskeyDocument) {
  return userEntry(action, { ...passkey, _id: passkey.user_id }, { name: passkey.name });
}
