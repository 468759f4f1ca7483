import { ServiceError } from "@vvs/errors";
import type { ClientSession } from "mongodb";
import { userEntry } from "../audit/audit.ts";
import { invalid } from "../refusals.ts";
import { type BegunSession, beginSession, proveSession, type SessionParts } from "../sessions/begin-session.ts";
import type { Tickets } from "../sessions/one-time-tokens.ts";
import type { SessionCaller } from "../sessions/own-sessions.ts";
import { newSessionToken, type SessionPlace, sessionId } from "../sessions/sessions.ts";
import type { IdentityProviders } from "../sso/identity-providers.ts";
import type { PasskeyDocument } from "../store.ts";
import { type RelyingParty, readResponse, requestOptions, verifiedCounter } from "./webauthn.ts";

/** The purposes of challenges. The browser that may answer one is named by the hash of its token. */
const SIGN_IN = "passkey sign_in";
const REAUTHENTICATE = "passkey reauthenticate";

/** Signs users in, and confirms their identity, with passkeys. */
export function createPasskeySignIns(
  options: SessionParts & { identityProviders: IdentityProviders; challenges: Tickets; rp: RelyingParty },
) {
  const { store, liveSessions, identityProviders, challenges, rp } = options;

  /** Returns the passkey that answers one of our challenges, and its counter; undefined if none does. */
  async function proven(text: string, purpose: string, boundTo: string): Promise<Proof | undefined> {
    const response = readResponse(text);
    if (!response || !challenges.read(response.challenge, purpose, boundTo)) return undefined;
    const passkey = await store.passkeys.findOne({ credential_id: response.credentialId });
    if (!passkey || (response.userHandle && response.userHandle !== passkey.user_id)) return undefined;
    const counter = await verifiedCounter(rp, response, passkey);
    return counter !== undefined && (await challenges.useUp(response.challenge)) ? { passkey, counter } : undefined;
  }

  /** Stores the use of a passkey. Errors: `refused` if it was removed or used meanwhile. */
  async function storeUse({ passkey, counter }: Proof, refused: () => ServiceError, at: Date, session: ClientSession) {
    const unchanged = { _id: passkey._id, counter: passkey.counter };
    const { matchedCount } = await store.passkeys.updateOne(
      unchanged,
      { $set: { counter, last_used_at: at } },
      { session },
    );
    if (matchedCount === 0) throw refused();
  }

  return {
    /** Returns PublicKeyCredentialRequestOptionsJSON, and the token of the browser that may answer. */
    async begin(): Promise<{ ceremonyToken: string; options: string }> {
      const ceremonyToken = newSessionToken();
      const { ticket: challenge } = challenges.issue(SIGN_IN, sessionId(ceremonyToken));
      return { ceremonyToken, options: await requestOptions(rp, { challenge }) };
    },

    /**
     * Begins a session. Requires no code, because the device verified its user. Errors: unauthorized, with the same text
     * for any cause; forbidden (the organization only signs in with its identity provider).
     */
    async signIn({
      ceremonyToken,
      response,
      ...place
    }: SessionPlace & { ceremonyToken: string; response: string }): Promise<BegunSession> {
      const proof = await proven(response, SIGN_IN, sessionId(ceremonyToken));
      const user = proof && (await store.users.findOne({ _id: proof.passkey.user_id }));
      if (!user) throw refused();
      identityProviders.refuseOtherSignIn(user);
      return beginSession(options, {
        user,
        place,
        details: { passkey: proof.passkey.name },
        use: (at, transaction) => storeUse(proof, refused, at, transaction),
        refused,
      });
    },

    /** Returns PublicKeyCredentialRequestOptionsJSON for the caller's passkeys. Errors: unauthorized. */
    async beginReauthentication(caller: SessionCaller): Promise<string> {
      const { session } = await liveSessions.find(caller.token);
      const known = await store.passkeys.find({ user_id: session.user_id }).toArray();
      const { ticket: challenge } = challenges.issue(REAUTHENTICATE, session._id);
      return requestOptions(rp, { challenge, known });
    },

    /**
     * Confirms the identity of a session's user. The session continues under a new token until the same time.
     * Errors: unauthorized (the session has ended), invalid_request (response), forbidden (as above).
     */
    async reauthenticate(caller: SessionCaller, response: string): Promise<BegunSession> {
      const { session, signedIn } = await liveSessions.find(caller.token);
      const proof = await proven(response, REAUTHENTICATE, session._id);
      if (proof?.passkey.user_id !== session.user_id) throw notYours();
      identityProviders.refuseOtherSignIn(session);
      const user = { _id: session.user_id, organization_id: session.organization_id };
      const entry = userEntry("user.reauthenticated", user, { passkey: proof.passkey.name });
      const use = (at: Date, transaction: ClientSession) => storeUse(proof, notYours, at, transaction);
      return proveSession(options, { caller, session, signedIn, entry, use });
    },
  };
}

interface Proof {
  readonly passkey: PasskeyDocument;
  readonly counter: number;
}

/** Has the same text for any cause. */
function refused(): ServiceError {
  return new ServiceError("unauthorized", {
    message: "This passkey is not registered here, or signing in took too long. Try again.",
  });
}

function notYours(): ServiceError {
  return invalid("response", "is not from one of your passkeys, or came too late");
}
