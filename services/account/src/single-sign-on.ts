import { randomBytes } from "node:crypto";
import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { MongoClient } from "mongodb";
import type { AuditLog } from "./audit.ts";
import { type IdentityProvider, type IdentityProviders, isOfProvider } from "./identity-providers.ts";
import type { LiveSessions, SignedIn } from "./live-sessions.ts";
import { NotProvenError, type OpenId, type ProvenIdentity, ProviderAwayError } from "./openid.ts";
import { newSession, newSessionToken, type SessionPlace, sessionId } from "./sessions.ts";
import type { AccountStore, UserDocument } from "./store.ts";
import { normalizedEmail, type Users } from "./users.ts";

/** How long somebody may take at their provider. */
export const TRIP_MS = 10 * 60_000;

export interface SingleSignOn {
  /** The providers that serve an address, or without one those that are offered to everybody; and is there any at all? */
  findProviders(email: string): { providers: readonly IdentityProvider[]; isUsed: boolean };
  /** Sets out to a provider. Errors: not_found, service_unavailable. */
  beginSingleSignOn(input: {
    providerId: string;
    redirectUri: string;
    next: string;
    again: boolean;
  }): Promise<{ authorizationUrl: string; browserToken: string; expiresAt: Date }>;
  /** Begins a session of who comes back, once. Errors: unauthorized with a sentence for them, service_unavailable. */
  finishSingleSignOn(
    input: SessionPlace & { browserToken: string; providerId: string; query: string },
  ): Promise<{ token: string; session: SignedIn; next: string }>;
}

export function createSingleSignOn(options: {
  client: MongoClient;
  store: AccountStore;
  providers: IdentityProviders;
  openId: OpenId;
  users: Pick<Users, "createUser">;
  liveSessions: LiveSessions;
  audit: AuditLog;
  now: () => Date;
}): SingleSignOn {
  const { client, store, providers, openId, users, liveSessions, audit, now } = options;

  /** The member whom the provider means; one it has named before is told by that name, whatever the address is now. */
  async function memberOf(provider: IdentityProvider, identity: ProvenIdentity): Promise<UserDocument> {
    const { issuer, subject } = identity;
    const email = normalizedEmail(identity.email);
    if (!identity.isEmailVerified) throw refused(`${provider.name} has not verified your e-mail address.`);
    if (!isOfProvider(provider, email)) throw refused(`${email} is no address that ${provider.name} signs in here.`);
    const known =
      (await store.users.findOne({ "identity.issuer": issuer, "identity.subject": subject })) ??
      (await store.users.findOne({ email }));
    if (!known) return newMember(provider, email);
    const isOther = known.identity && (known.identity.issuer !== issuer || known.identity.subject !== subject);
    if (known.organization_id !== provider.organization_id || isOther) {
      throw refused(`${email} belongs to another account here. Ask your administrator.`);
    }
    return known;
  }

  async function newMember(provider: IdentityProvider, email: string): Promise<UserDocument> {
    const { id, organization_id: organizationId, new_members: role } = provider;
    if (!role) throw refused(`Nobody of your organization has the address ${email} here. Ask an owner to invite you.`);
    // Nobody knows it: until a password is set, the provider is the only way in.
    const password = randomBytes(32).toString("base64url");
    return users.createUser({ actor: `identity_provider:${id}` }, { organizationId, email, password, role });
  }

  return {
    findProviders(email) {
      if (email === "") return { providers: providers.offered, isUsed: providers.isUsed };
      const provider = providers.byEmail(email);
      return { providers: provider ? [provider] : [], isUsed: providers.isUsed };
    },

    async beginSingleSignOn({ providerId, redirectUri, next, again }) {
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

    async finishSingleSignOn({ browserToken, providerId, query, ...place }) {
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
      const user = await memberOf(provider, identity);
      const { issuer, subject, authenticatedAt } = identity;
      const token = newSessionToken();
      const at = now();
      const session = {
        ...newSession(token, user, at, place),
        authenticated_at: provenAt(authenticatedAt, { at, again: trip.again }),
        identity_provider_id: provider.id,
      };
      const view = await liveSessions.describe(session);
      if (!view) throw refused("Your organization is suspended.");
      await inTransaction(client, async (transaction) => {
        const { matchedCount } = await store.users.updateOne(
          { _id: user._id, $or: [{ identity: { $exists: false } }, { identity: { issuer, subject } }] },
          { $set: { identity: { issuer, subject }, last_signed_in_at: at } },
          { session: transaction },
        );
        if (matchedCount === 0) throw refused("This sign-in is over. Begin again.");
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
      return { token, session: view, next: trip.next };
    },
  };
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
      message: `${name} does not answer. Try again in a moment.`,
      cause,
    });
  }
  if (!(cause instanceof NotProvenError)) return cause;
  return cause.reason === "provider_access_denied"
    ? refused(`${name} did not let you through.`, cause)
    : refused(`What ${name} said can’t be trusted. Begin again; if it happens again, tell your administrator.`, cause);
}

function refused(message: string, cause?: unknown): ServiceError {
  return new ServiceError("unauthorized", { message, cause });
}
