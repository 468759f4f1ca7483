import { randomBytes } from "node:crypto";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { afterEffect, inTransaction } from "@vvs/mongo";
import type { MongoClient } from "mongodb";
import type { AuditLog } from "../audit/audit.ts";
import { forgetRemoval, wasRemoved } from "../organizations/removed-members.ts";
import type { LiveSessions, SignedIn } from "../sessions/live-sessions.ts";
import { newSession, newSessionToken, type SessionPlace, sessionId } from "../sessions/sessions.ts";
import type { AccountStore, UserDocument } from "../store.ts";
import { hashPassword } from "../users/passwords.ts";
import { normalizedEmail, type Users } from "../users/users.ts";
import { type IdentityProvider, type IdentityProviders, isOfProvider } from "./identity-providers.ts";
import { NotProvenError, type OpenId, type ProvenIdentity, ProviderAwayError } from "./openid.ts";

/** How long somebody may take at their provider. */
export const TRIP_MS = 10 * 60_000;

export interface SingleSignOn {
  /** The providers that serve an address, or without one those that are offered to everybody; and is there any at all? */
  findProviders(email: string): { providers: readonly IdentityProvider[]; isUsed: boolean };
  /** Sets out to a provider. Errors: not_found, service_unavailable. */
  begin(input: {
    providerId: string;
    redirectUri: string;
    next: string;
    again: boolean;
  }): Promise<{ authorizationUrl: string; browserToken: string; expiresAt: Date }>;
  /** Begins a session of who comes back, once. Errors: unauthorized with a sentence for them, service_unavailable. */
  finish(
    input: SessionPlace & { browserToken: string; providerId: string; query: string },
  ): Promise<{ token: string; session: SignedIn; next: string }>;
}

export function createSingleSignOn(options: {
  client: MongoClient;
  store: AccountStore;
  providers: IdentityProviders;
  openId: OpenId;
  users: Pick<Users, "insert">;
  liveSessions: LiveSessions;
  audit: AuditLog;
  now: () => Date;
}): SingleSignOn {
  const { client, store, providers, openId, users, liveSessions, audit, now } = options;

  /** The member whom the provider means; one it has named before is told by that name, whatever the address is now. */
  async function memberOf(provider: IdentityProvider, identity: ProvenIdentity): Promise<UserDocument | undefined> {
    const { issuer, subject } = identity;
    const email = normalizedEmail(identity.email);
    if (!identity.isEmailVerified) throw refused(`${provider.name} has not verified your e-mail address.`);
    if (!isOfProvider(provider, email)) throw refused(`${email} is no address that ${provider.name} signs in here.`);
    const known =
      (await store.users.findOne({ "identity.issuer": issuer, "identity.subject": subject })) ??
      (await store.users.findOne({ email }));
    if (!known) return undefined;
    const isOther = known.identity && (known.identity.issuer !== issuer || known.identity.subject !== subject);
    if (known.organization_id !== provider.organization_id || isOther) {
      throw refused(`${email} belongs to another account here. Ask your administrator.`);
    }
    return known;
  }

  /**
   * Makes a member of somebody who is none: in the role of an invitation, which is accepted by that, else in the
   * provider's. Whom somebody removed needs an invitation.
   */
  async function newMember(provider: IdentityProvider, identity: ProvenIdentity): Promise<UserDocument> {
    const { organization_id } = provider;
    const { issuer, subject } = identity;
    const email = normalizedEmail(identity.email);
    const at = now();
    const by = { actor: `identity_provider:${provider.id}` };
    // Nobody knows the password: until another is set, the provider is the only way in.
    const password_hash = await hashPassword(randomBytes(32).toString("base64url"));
    return inTransaction(client, async (session) => {
      const active = { _id: organization_id, status: "active" } as const;
      if (!(await store.organizations.findOne(active, { session }))) throw suspended();
      const open = { organization_id, email, expires_at: { $gt: at } };
      const invitation = await store.invitations.findOneAndDelete(open, { session });
      const person = { organization_id, email, identity: { issuer, subject } };
      const mayJoin = invitation || !(await wasRemoved(store, person, session));
      const role = invitation?.role ?? provider.new_members;
      if (!role || !mayJoin) {
        throw refused(`Nobody of your organization has the address ${email} here. Ask an owner to invite you.`);
      }
      const user: UserDocument = { _id: newId("usr", at), email, password_hash, organization_id, role, created_at: at };
      await users.insert(session, by, user);
      if (invitation) {
        const entry = { action: "invitation.accepted", organizationId: organization_id, target: user._id } as const;
        await audit.append(session, by, { ...entry, details: { role } });
      }
      return user;
    });
  }

  async function beginSession(
    user: UserDocument,
    { provider, identity, again, place }: Arrival,
  ): Promise<{ token: string; session: SignedIn }> {
    const { issuer, subject, authenticatedAt } = identity;
    const token = newSessionToken();
    const at = now();
    const session = {
      ...newSession(token, user, at, place),
      authenticated_at: provenAt(authenticatedAt, { at, again }),
      identity_provider_id: provider.id,
    };
    const view = await liveSessions.describe(session);
    if (!view) throw suspended();
    await inTransaction(client, async (transaction) => {
      const { matchedCount } = await store.users.updateOne(
        { _id: user._id, $or: [{ identity: { $exists: false } }, { identity: { issuer, subject } }] },
        { $set: { identity: { issuer, subject }, last_signed_in_at: at } },
        { session: transaction },
      );
      if (matchedCount === 0) throw refused("This sign-in is over. Begin again.");
      if (!user.identity) await forgetRemoval(store, { ...user, identity: { issuer, subject } }, transaction);
      await store.sessions.insertOne(session, { session: transaction });
      await audit.append(
        transaction,
        { actor: user._id, clientAddress: place.clientAddress },
        {
          action: "user.signed_in",
          organizationId: user.organization_id,
          target: user._id,
          details: { identity_provider: provider.id },
        },
      );
    });
    return { token, session: view };
  }

  return {
    findProviders(email) {
      if (email === "") return { providers: providers.offered, isUsed: providers.isUsed };
      const provider = providers.byEmail(email);
      return { providers: provider ? [provider] : [], isUsed: providers.isUsed };
    },

    async begin({ providerId, redirectUri, next, again }) {
      const provider = providers.byId(providerId);
      if (!provider) throw new ServiceError("not_found", { message: "There is no such identity provider." });
      const browserToken = newSessionToken();
      const expiresAt = new Date(now().getTime() + TRIP_MS);
      const authorizationUrl = await openId
        .authorizationUrl(provider, { browserToken, redirectUri, again })
        .catch((error: unknown) => {
          throw refusalOf(provider, error);
        });
      await store.singleSignOns.insertOne({
        _id: sessionId(browserToken),
        provider_id: provider.id,
        redirect_uri: redirectUri,
        again,
        next,
        expires_at: expiresAt,
      });
      return { authorizationUrl, browserToken, expiresAt };
    },

    async finish({ browserToken, providerId, query, ...place }) {
      // Found and gone in one step: of two that come back with the same, one alone is heard.
      const trip = await store.singleSignOns.findOneAndDelete({
        _id: sessionId(browserToken),
        expires_at: { $gt: now() },
      });
      const provider = trip && providers.byId(trip.provider_id);
      // Each provider has an address of its own to come back to: what one was asked, another can't answer.
      if (!trip || !provider || provider.id !== providerId) throw refused("This sign-in is over. Begin again.");
      const identity = await openId
        .identityOf(provider, { browserToken, redirectUri: trip.redirect_uri, query })
        .catch((error: unknown) => {
          throw refusalOf(provider, error);
        });
      const known = await memberOf(provider, identity);
      const user = known ?? (await newMember(provider, identity));
      const begun = beginSession(user, { provider, identity, again: trip.again, place });
      return { ...(await (known ? begun : begun.catch(afterEffect))), next: trip.next };
    },
  };
}

/** Somebody who came back from their provider. */
interface Arrival {
  readonly provider: IdentityProvider;
  readonly identity: ProvenIdentity;
  /** The provider was told to ask for their credentials again. */
  readonly again: boolean;
  readonly place: SessionPlace;
}

/**
 * When somebody gave their credentials. A provider that does not say may have let them through by a session of days
 * ago, unless it was told to ask again.
 */
function provenAt(told: Date | undefined, { at, again }: { at: Date; again: boolean }): Date {
  if (told) return told < at ? told : at;
  return again ? at : new Date(0);
}

/** What of a provider's failing is for its user; the rest is for logs. */
function refusalOf({ name }: IdentityProvider, cause: unknown): unknown {
  if (cause instanceof ProviderAwayError) {
    return new ServiceError("service_unavailable", {
      message: `${name} is not responding. Try again in a moment.`,
      cause,
    });
  }
  if (!(cause instanceof NotProvenError)) return cause;
  return cause.reason === "provider_access_denied"
    ? refused(`${name} did not let you through.`, cause)
    : refused(`What ${name} said can’t be trusted. Begin again; if it happens again, tell your administrator.`, cause);
}

function suspended(): ServiceError {
  return refused("Your organization is suspended.");
}

function refused(message: string, cause?: unknown): ServiceError {
  return new ServiceError("unauthorized", { message, cause });
}
