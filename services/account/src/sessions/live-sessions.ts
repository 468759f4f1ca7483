import { notTheEffect } from "@vvs/deadline";
import { ServiceError } from "@vvs/errors";
import type { ClientSession } from "mongodb";
import type { Role } from "../organizations/roles.ts";
import type { AccountStore, SessionDocument } from "../store.ts";
import { isSessionAlive, isTouchDue, sessionId } from "./sessions.ts";

/** A signed-in user. */
export interface SignedIn {
  readonly userId: string;
  readonly email: string;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly role: Role;
  /** When the session ends whatever happens. */
  readonly expiresAt: Date;
  /** When the user last gave their password, here or to their identity provider. */
  readonly authenticatedAt: Date;
  /** The identity provider that the session began by. */
  readonly identityProviderId?: string;
}

export interface LiveSessions {
  /** Whose session it is; undefined where its user is gone or the organization suspended. */
  describe(session: SessionDocument): Promise<SignedIn | undefined>;
  /** The session of a token, noted as used. Errors: unauthorized where it is unknown or over. */
  find(token: string): Promise<{ session: SessionDocument; signedIn: SignedIn }>;
}

export function createLiveSessions(options: { store: AccountStore; now: () => Date }): LiveSessions {
  const { store, now } = options;

  async function describe(session: SessionDocument): Promise<SignedIn | undefined> {
    const [user, organization] = await Promise.all([
      store.users.findOne({ _id: session.user_id }),
      store.organizations.findOne({ _id: session.organization_id, status: "active" }),
    ]);
    if (!user || !organization) return undefined;
    return {
      userId: user._id,
      email: user.email,
      organizationId: organization._id,
      organizationName: organization.name,
      role: user.role,
      expiresAt: session.expires_at,
      authenticatedAt: session.authenticated_at ?? session.created_at,
      ...(session.identity_provider_id && { identityProviderId: session.identity_provider_id }),
    };
  }

  return {
    describe,

    async find(token) {
      const session = await store.sessions.findOne({ _id: sessionId(token) });
      const at = now();
      const signedIn = session && isSessionAlive(session, at) ? await describe(session) : undefined;
      if (!session || !signedIn) throw sessionOver();
      if (isTouchDue(session, at)) {
        await store.sessions.updateOne({ _id: session._id }, { $max: { last_seen_at: at } }).catch(notTheEffect);
      }
      return { session, signedIn };
    },
  };
}

/**
 * Requires in a change's transaction that the caller's session was not ended since it was found. It counts the change
 * in the session, so that whatever ends the session at the same time waits for the transaction. Errors: unauthorized.
 */
export async function requireSession(
  store: AccountStore,
  { _id }: SessionDocument,
  transaction: ClientSession,
): Promise<void> {
  const counted = { $inc: { security_changes: 1 } };
  const { matchedCount } = await store.sessions.updateOne({ _id }, counted, { session: transaction });
  if (matchedCount === 0) throw sessionOver();
}

/** What who comes with a session that is over is told. */
export function sessionOver(): ServiceError {
  return new ServiceError("unauthorized", { message: "Sign in again." });
}
