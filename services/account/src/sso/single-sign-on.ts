import { randomBytes } from "node:crypto";
import type { SecretKey } from "@vvs/config";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { afterEffect, inTransaction } from "@vvs/mongo";
import { userEntry } from "../audit/audit.ts";
import { forgetRemoval, wasRemoved } from "../members/membership.ts";
import { missing } from "../refusals.ts";
import { type BegunSession, beginSession, type SessionParts } from "../sessions/begin-session.ts";
import { createTickets } from "../sessions/one-time-tokens.ts";
import { newSessionToken, type SessionPlace, sessionId } from "../sessions/sessions.ts";
import type { UserDocument } from "../store.ts";
import type { Passwords } from "../users/passwords.ts";
import { normalizedEmail, type Users } from "../users/users.ts";
import {
  hasRequiredClaims,
  type IdentityProvider,
  type IdentityProviders,
  isOfProvider,
} from "./identity-providers.ts";
import { NotProvenError, type OpenId, type ProvenIdentity, ProviderAwayError } from "./openid.ts";

/** How long a user may take at their provider. */
export const TRIP_MS = 10 * 60_000;
/** By how much a provider's clock may differ from ours. */
const SKEW_MS = 60_000;

/** What is needed of a sign-in when the browser comes back. It is in its ticket, which is the state. */
interface Trip {
  readonly redirectUri: string;
  /** The page to show afterwards. */
  readonly next: string;
  /** Whether the provider must ask for credentials again, and say when it did. */
  readonly again: boolean;
}

const purposeOf = ({ id }: IdentityProvider) => `single sign-on ${id}`;

export function createSingleSignOn(
  options: SessionParts & {
    identityProviders: IdentityProviders;
    openId: OpenId;
    users: Pick<Users, "insert">;
    passwords: Pick<Passwords, "hash">;
    keys: readonly SecretKey[];
  },
) {
  const { client, store, identityProviders: providers, openId, keys, users, audit, now } = options;
  const tickets = createTickets({ keys, used: store.singleSignOns, lifetimeMs: TRIP_MS, now });

  /**
   * Returns the member whom the provider identifies. A member who has signed in that way before is found by the provider's
   * subject, even with a new address; others are found by their address. Errors: unauthorized.
   */
  async function memberOf(provider: IdentityProvider, identity: ProvenIdentity): Promise<UserDocument | undefined> {
    const { issuer, subject } = identity;
    const email = normalizedEmail(identity.email);
    if (!hasRequiredClaims(provider, identity.claims)) {
      throw refused(
        `You are signed in to ${provider.name} with an account of another organization. Sign in there with your organization’s account, and then begin again.`,
      );
    }
    if (!identity.isEmailVerified) throw refused(`${provider.name} has not verified your email address.`);
    if (!isOfProvider(provider, email)) {
      throw refused(`${provider.name} can’t sign in ${email || "users without an email address"} here.`);
    }
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
   * Creates a member: with the role of their invitation, which is accepted thereby, else with the role that the provider
   * gives to new members. A person whom someone removed needs an invitation.
   */
  async function newMember(provider: IdentityProvider, identity: ProvenIdentity): Promise<UserDocument> {
    const { organization_id } = provider;
    const { issuer, subject } = identity;
    const email = normalizedEmail(identity.email);
    const at = now();
    const by = { actor: `identity_provider:${provider.id}` };
    // Nobody knows the password: until a new one is set, only the provider can sign them in.
    const password_hash = await options.passwords.hash(randomBytes(32).toString("base64url"), "known");
    return inTransaction(client, async (session) => {
      const active = { _id: organization_id, status: "active" } as const;
      if (!(await store.organizations.findOne(active, { session }))) throw suspended();
      const open = { organization_id, email, expires_at: { $gt: at } };
      const invitation = await store.invitations.findOneAndDelete(open, { session });
      const person = { organization_id, email, identity: { issuer, subject } };
      const mayJoin = invitation || !(await wasRemoved(store, person, session));
      const role = invitation?.role ?? provider.new_members;
      if (!role || !mayJoin) {
        throw refused(`Nobody in your organization has the address ${email} here. Ask an owner to invite you.`);
      }
      const user: UserDocument = { _id: newId("usr", at), email, password_hash, organization_id, role, created_at: at };
      await users.insert(session, by, user);
      if (invitation) await audit.append(session, by, userEntry("invitation.accepted", user, { role }));
      return user;
    });
  }

  function begin(
    user: UserDocument,
    provider: IdentityProvider,
    { issuer, subject, authenticatedAt }: ProvenIdentity,
    place: SessionPlace,
  ): Promise<BegunSession> {
    const identity = { issuer, subject };
    return beginSession(options, {
      user,
      place,
      fields: {
        authenticated_at: provenAt(authenticatedAt, now()),
        identity_provider_id: provider.id,
      },
      filter: { $or: [{ identity: { $exists: false } }, { identity }] },
      changes: { identity },
      details: { identity_provider: provider.id },
      async use(_at, transaction) {
        if (!user.identity) await forgetRemoval(store, { ...user, identity }, transaction);
      },
      refused: over,
      suspended,
    });
  }

  return {
    /** Returns the providers for an address, or those offered to everybody if it is empty; and whether there are any. */
    findProviders(email: string): { providers: readonly IdentityProvider[]; isUsed: boolean } {
      const provider = providers.byEmail(email);
      const found = email === "" ? providers.offered : provider ? [provider] : [];
      return { providers: found, isUsed: providers.isUsed };
    },

    /** Begins a sign-in with a provider. Errors: not_found, service_unavailable. */
    async begin(input: { providerId: string; redirectUri: string; next: string; again: boolean }) {
      const { redirectUri, next, again } = input;
      const provider = providers.byId(input.providerId);
      if (!provider) throw missing("identity provider");
      const browserToken = newSessionToken();
      const trip = JSON.stringify({ redirectUri, next, again } satisfies Trip);
      const { ticket, expiresAt } = tickets.issue(purposeOf(provider), sessionId(browserToken), trip);
      const state = ticket.toString("base64url");
      const authorizationUrl = await openId
        .authorizationUrl(provider, { browserToken, state, redirectUri, again })
        .catch((error: unknown) => {
          throw refusalOf(provider, error);
        });
      return { authorizationUrl, browserToken, expiresAt };
    },

    /** Begins a session of a user who came back, once. Errors: unauthorized with a text for them, service_unavailable. */
    async finish({
      browserToken,
      providerId,
      query,
      ...place
    }: SessionPlace & { browserToken: string; providerId: string; query: string }): Promise<
      BegunSession & { next: string }
    > {
      const provider = providers.byId(providerId);
      const state = new URLSearchParams(query).get("state") ?? "";
      // Each provider has tickets and a redirect URI of its own: another provider can't answer for it.
      const ticket = provider && tickets.read(state, purposeOf(provider), sessionId(browserToken));
      if (!ticket) throw over();
      const trip = JSON.parse(ticket.content) as Trip;
      const identity = await openId
        .identityOf(provider, { browserToken, state, redirectUri: trip.redirectUri, query })
        .catch((error: unknown) => {
          throw refusalOf(provider, error);
        });
      // Of two browsers with the same token only one continues.
      if (!(await tickets.useUp(browserToken))) throw over();
      if (trip.again) requireAskedAgain(provider, identity, ticket.expiresAt, now());
      const known = await memberOf(provider, identity);
      const user = known ?? (await newMember(provider, identity));
      const begun = begin(user, provider, identity, place);
      return { ...(await (known ? begun : begun.catch(afterEffect))), next: trip.next };
    },
  };
}

/** Returns when a user entered their credentials: a provider that does not say when may have used an old session. */
function provenAt(authenticatedAt: Date | undefined, at: Date): Date {
  if (!authenticatedAt) return new Date(0);
  return authenticatedAt < at ? authenticatedAt : at;
}

/** Requires that a provider asked for credentials since we sent the browser there. Errors: unauthorized. */
function requireAskedAgain(
  { name }: IdentityProvider,
  { authenticatedAt }: ProvenIdentity,
  expiresAt: Date,
  at: Date,
): void {
  if (!authenticatedAt) {
    const cause = new NotProvenError("auth_time_missing");
    throw refused(
      `${name} did not say when you entered your credentials, so your identity is not confirmed. Ask your administrator to make it send the claim auth_time.`,
      cause,
    );
  }
  const sentAt = expiresAt.getTime() - TRIP_MS;
  const isNow = authenticatedAt.getTime() >= sentAt - SKEW_MS && authenticatedAt.getTime() <= at.getTime() + SKEW_MS;
  if (isNow) return;
  throw refused(
    `${name} did not ask for your credentials again, so your identity is not confirmed. Sign out of ${name}, and then begin again.`,
    new NotProvenError("auth_time_old"),
  );
}

/** Returns what the user may see of a provider's failure. The rest is for logs. */
function refusalOf({ name }: IdentityProvider, cause: unknown): unknown {
  if (cause instanceof ProviderAwayError) {
    const message = `${name} is not responding. Try again in a moment.`;
    return new ServiceError("service_unavailable", { message, cause });
  }
  if (!(cause instanceof NotProvenError)) return cause;
  return cause.reason === "provider_access_denied"
    ? refused(`${name} did not let you through.`, cause)
    : refused(
        `The response from ${name} could not be verified. Sign in again. If it fails again, contact your administrator.`,
        cause,
      );
}

function over(): ServiceError {
  return refused("This sign-in has ended. Sign in again.");
}

function suspended(): ServiceError {
  return refused("Your organization is suspended.");
}

function refused(message: string, cause?: unknown): ServiceError {
  return new ServiceError("unauthorized", { message, cause });
}
