import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { ClientSession, MongoClient } from "mongodb";
import type { AuditLog } from "../audit/audit.ts";
import type { LiveSessions, SignedIn } from "../sessions/live-sessions.ts";
import { actorOf, type SessionCaller } from "../sessions/own-sessions.ts";
import { type ReplacedSession, replaceSession } from "../sessions/replaced-session.ts";
import { newSession, newSessionToken, type SessionPlace, sessionId } from "../sessions/sessions.ts";
import { byProviderAlone } from "../sessions/sign-in.ts";
import type { IdentityProviders } from "../sso/identity-providers.ts";
import type { AccountStore, PasskeyDocument } from "../store.ts";
import type { ChallengeUse, PasskeyChallenges } from "./passkey-challenges.ts";
import { type RelyingParty, readResponse, requestOptions, verifiedCounter } from "./webauthn.ts";

export interface PasskeySignIns {
  /** PublicKeyCredentialRequestOptionsJSON, and the token of the browser that may answer. Errors: rate_limited. */
  begin(clientAddress: string): Promise<{ ceremonyToken: string; options: string }>;
  /**
   * Begins a session; no code is asked for, as the device verified its user. Errors: unauthorized, with one text,
   * forbidden (the organization signs in by its identity provider alone).
   */
  signIn(
    input: SessionPlace & { ceremonyToken: string; response: string },
  ): Promise<{ token: string; session: SignedIn }>;
  /** PublicKeyCredentialRequestOptionsJSON of the caller's passkeys. Errors: unauthorized. */
  beginReauthentication(caller: SessionCaller): Promise<string>;
  /**
   * Proves that the user themselves uses the session, which goes on under a new token and as long as before.
   * Errors: unauthorized (the session is over), invalid_request (response).
   */
  reauthenticate(caller: SessionCaller, response: string): Promise<ReplacedSession>;
}

/** What passkeys prove. */
export function createPasskeySignIns(options: {
  client: MongoClient;
  store: AccountStore;
  liveSessions: LiveSessions;
  identityProviders: IdentityProviders;
  challenges: PasskeyChallenges;
  audit: AuditLog;
  rp: RelyingParty;
  now: () => Date;
}): PasskeySignIns {
  const { client, store, liveSessions, identityProviders, challenges, audit, rp, now } = options;

  /** The passkey that answers a challenge of ours, with the counter it shows; undefined where none does. */
  async function proven(text: string, use: ChallengeUse): Promise<Proof | undefined> {
    const response = readResponse(text);
    if (!response || !(await challenges.take(response.challenge, use))) return undefined;
    const passkey = await store.passkeys.findOne({ credential_id: response.credentialId });
    if (!passkey || (response.userHandle && response.userHandle !== passkey.user_id)) return undefined;
    const counter = await verifiedCounter(rp, response, passkey);
    return counter === undefined ? undefined : { passkey, counter };
  }

  /** False where the passkey was removed or used meanwhile. */
  async function noteUse({ passkey, counter }: Proof, at: Date, transaction: ClientSession): Promise<boolean> {
    const { matchedCount } = await store.passkeys.updateOne(
      { _id: passkey._id, counter: passkey.counter },
      { $set: { counter, last_used_at: at } },
      { session: transaction },
    );
    return matchedCount === 1;
  }

  return {
    async begin(clientAddress) {
      const ceremonyToken = newSessionToken();
      const challenge = await challenges.issueTo(clientAddress, {
        purpose: "sign_in",
        bound_to: sessionId(ceremonyToken),
      });
      return { ceremonyToken, options: await requestOptions(rp, { challenge }) };
    },

    async signIn({ ceremonyToken, response, ...place }) {
      const proof = await proven(response, { purpose: "sign_in", bound_to: sessionId(ceremonyToken) });
      const user = proof && (await store.users.findOne({ _id: proof.passkey.user_id }));
      if (!user) throw refused();
      const provider = identityProviders.byOrganization(user.organization_id);
      if (provider?.required) throw byProviderAlone(provider);
      const token = newSessionToken();
      const at = now();
      const session = newSession(token, user, at, place);
      const view = await liveSessions.describe(session);
      if (!view) throw refused();
      await inTransaction(client, async (transaction) => {
        if (!(await noteUse(proof, at, transaction))) throw refused();
        const changes = { $set: { last_signed_in_at: at } };
        const { matchedCount } = await store.users.updateOne({ _id: user._id }, changes, { session: transaction });
        if (matchedCount === 0) throw refused();
        await store.sessions.insertOne(session, { session: transaction });
        const by = { actor: user._id, clientAddress: place.clientAddress };
        await audit.append(transaction, by, entryOf("user.signed_in", proof.passkey));
      });
      return { token, session: view };
    },

    async beginReauthentication(caller) {
      const { session } = await liveSessions.find(caller.token);
      const known = await store.passkeys.find({ user_id: session.user_id }).toArray();
      const challenge = await challenges.issue({ purpose: "reauthenticate", bound_to: session._id });
      return requestOptions(rp, { challenge, known });
    },

    async reauthenticate(caller, response) {
      const { session, signedIn } = await liveSessions.find(caller.token);
      const proof = await proven(response, { purpose: "reauthenticate", bound_to: session._id });
      if (proof?.passkey.user_id !== session.user_id) throw notYours();
      const token = newSessionToken();
      const at = now();
      const after = { ...session, _id: sessionId(token), last_seen_at: at, authenticated_at: at };
      await inTransaction(client, async (transaction) => {
        if (!(await noteUse(proof, at, transaction))) throw notYours();
        await replaceSession(store, { before: session, after }, transaction);
        const by = actorOf(caller, session.user_id);
        await audit.append(transaction, by, entryOf("user.reauthenticated", proof.passkey));
      });
      return { token, session: { ...signedIn, authenticatedAt: at } };
    },
  };
}

interface Proof {
  readonly passkey: PasskeyDocument;
  readonly counter: number;
}

/** One text for every cause. */
function refused(): ServiceError {
  return new ServiceError("unauthorized", {
    message: "This passkey is not registered here, or signing in took too long. Try again.",
  });
}

function notYours(): ServiceError {
  const details = [{ path: "response", message: "is not from one of your passkeys, or came too late" }];
  return new ServiceError("invalid_request", { details });
}

function entryOf(action: "user.signed_in" | "user.reauthenticated", passkey: PasskeyDocument) {
  const { organization_id: organizationId, user_id: target, name } = passkey;
  return { action, organizationId, target, details: { passkey: name } } as const;
}
