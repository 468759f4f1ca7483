import { notTheEffect } from "@vvs/deadline";
import { ServiceError } from "@vvs/errors";
import type { ClientSession } from "mongodb";
import type { Role } from "../model/roles.ts";
import type { AccountStore, SessionDocument } from "../store.ts";
import { isSessionAlive, isTouchDue, sessionId } from "./sessions.ts";

/** A signed-in user. */
export interface SignedIn {
  readonly userId: string;
  readonly email: string;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly role: Role;
  /** One of the product's operators. */
  readonly isOperator: boolean;
  /** When the session ends at the latest. */
  readonly expiresAt: Date;
  /** When the user last confirmed their identity, here or to their identity provider. */
  readonly authenticatedAt: Date;
  /** The identity provider that began the session. */
  readonly identityProviderId?: string;
}

export type LiveSessions = ReturnType<typeof createLiveSessions>;

export function createLiveSessions({ store, now }: { store: AccountStore; now: () => Date }) {
  /** Returns the user of a session; undefined if the user is gone or the organization is suspended. */
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
      isOperator: user.is_operator ?? false,
      expiresAt: session.expires_at,
      authenticatedAt: session.authenticated_at,
      ...(session.identity_provider_id && { identityProviderId: session.identity_provider_id }),
    };
  }

  return {
    describe,

    /** Returns the session of a token, and stores that it was used. Errors: unauthorized if it is unknown or has ended. */
    async find(token: string): Promise<{ session: SessionDocument; signedIn: SignedIn }> {
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
 * Requires in a change's transaction that the caller's session was not ended since it was found. Counts the change in
 * the session, so that a transaction that ends the session at the same time waits for this one. Errors: unauthorized.
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

/** Returns the refusal of a session that has ended. */
export function sessionOver(): ServiceError {
  return new ServiceError("unauthorized", { message: "Sign in again." });
}
