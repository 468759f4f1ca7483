import { databaseName } from "@vvs/mongo";
import type { Sealed } from "@vvs/sealing";
import type { Environment, Tenant } from "@vvs/tenant";
import type { Collection, Db, MongoClient } from "mongodb";
import type { MailboxDocument } from "./mail/mailbox.ts";
import type { MailDocument } from "./mail/queue.ts";
import type { Plan } from "./organizations/plans.ts";
import type { Role } from "./organizations/roles.ts";

export interface OrganizationDocument {
  /** org_…. */
  readonly _id: string;
  readonly name: string;
  readonly plan: Plan;
  /** Requests per minute and key; of Enterprise alone. */
  readonly limit_per_minute?: number;
  readonly status: "active" | "suspended";
  readonly created_at: Date;
}

export interface UserDocument {
  /** usr_…. */
  readonly _id: string;
  /** In lower case; unique in the whole installation. */
  readonly email: string;
  /** argon2id, in the PHC format. */
  readonly password_hash: string;
  readonly organization_id: string;
  readonly role: Role;
  readonly created_at: Date;
  readonly last_signed_in_at?: Date;
  /** The authenticator app that sign-ins ask for. */
  readonly totp?: TotpDocument;
  /** Who they are at their organization's identity provider, once they came by it. */
  readonly identity?: { readonly issuer: string; readonly subject: string };
  /** A secret that no code was given of yet. */
  readonly totp_setup?: SealedSecret;
  /** Number of passkeys ever added: each addition writes it, so that of two at once the second counts again. */
  readonly passkeys_added?: number;
}

export interface TotpDocument {
  readonly sealed: Sealed;
  readonly enabled_at: Date;
  /** The newest 30 s whose code was used: no code of it or of an earlier one counts. */
  readonly last_step: number;
  /** SHA-256, in hex, of the recovery codes that were not used yet. */
  readonly recovery_hashes: readonly string[];
}

/** A sign-in whose password was right and whose second step is awaited. */
export interface SecondStepDocument {
  /** SHA-256 of the token, in hex. */
  readonly _id: string;
  readonly user_id: string;
  /** Against which the password was right: a new one ends the step. */
  readonly password_hash: string;
  readonly expires_at: Date;
}

/** Somebody who is at their identity provider, and may come back by the browser they went with. */
export interface SingleSignOnDocument {
  /** SHA-256 of the browser's token, in hex. */
  readonly _id: string;
  readonly provider_id: string;
  readonly redirect_uri: string;
  /** Was the provider told to ask for credentials anew? */
  readonly again: boolean;
  /** The page to go on with. */
  readonly next: string;
  readonly expires_at: Date;
}

/** A sign-up whose address was not confirmed yet: all there is of it. */
export interface SignUpDocument {
  /** SHA-256 of the link's token, in hex. */
  readonly _id: string;
  /** In lower case; several sign-ups may have the same. */
  readonly email: string;
  readonly password_hash: string;
  readonly organization_name: string;
  /** Where it came from. */
  readonly client_address: string;
  /** When the form was sent; a link that is mailed again has the first one's. */
  readonly asked_at: Date;
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** A link that sets a new password. */
export interface PasswordResetDocument {
  /** SHA-256 of the link's token, in hex. */
  readonly _id: string;
  readonly user_id: string;
  /** Which the link was asked for: a new one, by whatever way, ends the link. */
  readonly password_hash: string;
  readonly expires_at: Date;
}

export interface SessionDocument {
  /** SHA-256 of the token, in hex: who reads the database can't sign in with it. */
  readonly _id: string;
  readonly user_id: string;
  readonly organization_id: string;
  readonly created_at: Date;
  readonly last_seen_at: Date;
  /** When it ends whatever happens. */
  readonly expires_at: Date;
  /** When its user last gave their password; absent from sessions that began before this was noted. */
  readonly authenticated_at?: Date;
  /** Where the sign-in came from. */
  readonly client_address?: string;
  /** The browser, as it calls itself. */
  readonly user_agent?: string;
  /** The identity provider that it began by; absent where it was a password. */
  readonly identity_provider_id?: string;
  /** Number of changes to the account's security that it was used for. Each change writes the session through it. */
  readonly security_changes?: number;
}

/** What a user signs in with in place of a password and a code. */
export interface PasskeyDocument {
  /** pky_…. */
  readonly _id: string;
  readonly user_id: string;
  readonly organization_id: string;
  /** As its device names it, base64url; unique. */
  readonly credential_id: string;
  /** COSE. */
  readonly public_key: Buffer;
  /** How often it was used, by its own count; always 0 for one that is kept on several devices. */
  readonly counter: number;
  /** How browsers reach its device. */
  readonly transports: readonly string[];
  readonly name: string;
  readonly created_at: Date;
  readonly last_used_at?: Date;
}

/** A challenge that a browser is to answer by a passkey; gone with the first answer. */
export interface PasskeyChallengeDocument {
  /** SHA-256 of the challenge, in hex. */
  readonly _id: string;
  readonly purpose: "register" | "sign_in" | "reauthenticate";
  /** Who may answer: SHA-256 of the token of the session, or of the sign-in that began. */
  readonly bound_to: string;
  /** Where a sign-in came from, as limits know it. */
  readonly client_group?: string;
  readonly expires_at: Date;
}

export interface ApiKeyDocument {
  /** key_…. */
  readonly _id: string;
  readonly organization_id: string;
  readonly environment: Environment;
  /** HMAC-SHA256 of the whole key by the pepper; unique. */
  readonly hash: Buffer;
  readonly pepper_id: string;
  readonly name: string;
  readonly start: string;
  readonly last_four: string;
  readonly scopes: readonly string[];
  readonly created_by: string;
  readonly created_at: Date;
  readonly expires_at?: Date;
  readonly revoked_at?: Date;
  /** When another key took its place; it works until it expires all the same. */
  readonly rolled_at?: Date;
  /** That other key. */
  readonly rolled_to?: string;
  /** The form that asked for it; unique within its tenant. */
  readonly submission?: string;
}

/** Written by each creation of a key, so that of two at once the second counts again: the cap holds in any race. */
export interface ApiKeyLockDocument {
  /** <organization>:<environment>. */
  readonly _id: string;
  readonly organization_id: string;
  readonly environment: Environment;
  readonly creations: number;
}

export interface SealedSecret {
  readonly sealed: Sealed;
  readonly created_at: Date;
  /** The submitted form that made it, if it was made by one that was named. */
  readonly submission?: string;
}

export interface WebhookSecretDocument {
  /** <organization>:<environment>. */
  readonly _id: string;
  readonly organization_id: string;
  readonly environment: Environment;
  readonly current: SealedSecret;
  /** The one before, while a rotation keeps it. */
  readonly previous?: SealedSecret & { readonly valid_until: Date };
}

/** Failed sign-ins, or mails asked for, of an account or a client address within a window that began with the first. */
export interface SignInLimitDocument {
  /** account:<hash> or address:<address>; for mails with mail: before it. */
  readonly _id: string;
  readonly attempts: number;
  readonly window_ends_at: Date;
}

/** Requests of one key, within one hour, with one status. */
export interface UsageDocument {
  /** <key>:<hour>:<status>. */
  readonly _id: string;
  readonly organization_id: string;
  readonly environment: Environment;
  readonly api_key_id: string;
  readonly hour: Date;
  readonly status: number;
  readonly requests: number;
  /** By class of duration; those without requests are left out. */
  readonly durations: Readonly<Record<string, number>>;
  readonly last_at: Date;
}

/** Apart from the keys, whose every change is told to all gateways. */
export interface ApiKeyUseDocument {
  /** key_…. */
  readonly _id: string;
  readonly organization_id: string;
  readonly environment: Environment;
  readonly last_used_at: Date;
}

/** A gateway's report that was added, so that it counts once. */
export interface UsageReportDocument {
  readonly _id: string;
  readonly at: Date;
}

export interface AuditDocument {
  readonly organization_id: string;
  readonly environment?: Environment;
  /** usr_… or operator. */
  readonly actor: string;
  readonly action: string;
  /** The id of what was acted on. */
  readonly target: string;
  readonly at: Date;
  readonly request_id?: string;
  readonly client_address?: string;
  /** What changed, in a few words; never a secret. */
  readonly details?: Readonly<Record<string, string | number>>;
}

/** Written by each change of who an organization's members are, so that of two at once the second looks again. */
export interface MemberLockDocument {
  /** org_…. */
  readonly _id: string;
  readonly changes: number;
}

/** A mail that makes its reader a member, until it is accepted. */
export interface InvitationDocument {
  /** inv_…. */
  readonly _id: string;
  readonly organization_id: string;
  /** In lower case; once in an organization. */
  readonly email: string;
  readonly role: Role;
  /** SHA-256 of the newest link's token, in hex. */
  readonly token_hash: string;
  readonly invited_by: string;
  readonly created_at: Date;
  /** When it was mailed last. */
  readonly sent_at: Date;
  readonly expires_at: Date;
}

/** Who was a member once: the audit log goes on naming them. */
export interface FormerMemberDocument {
  /** usr_…. */
  readonly _id: string;
  readonly organization_id: string;
  readonly email: string;
  readonly removed_at: Date;
}

/** Somebody whom an owner or the operator removed, until they are a member again. */
export interface RemovedMemberDocument {
  /** usr_…. */
  readonly _id: string;
  readonly organization_id: string;
  readonly email: string;
  /** Who they were at their organization's identity provider, where they came by it. */
  readonly identity?: UserDocument["identity"];
  readonly removed_at: Date;
}

/** The collections of the account database. */
export interface AccountStore {
  readonly db: Db;
  readonly organizations: Collection<OrganizationDocument>;
  readonly users: Collection<UserDocument>;
  readonly sessions: Collection<SessionDocument>;
  readonly passkeys: Collection<PasskeyDocument>;
  readonly passkeyChallenges: Collection<PasskeyChallengeDocument>;
  readonly apiKeys: Collection<ApiKeyDocument>;
  readonly apiKeyLocks: Collection<ApiKeyLockDocument>;
  readonly webhookSecrets: Collection<WebhookSecretDocument>;
  readonly secondSteps: Collection<SecondStepDocument>;
  readonly singleSignOns: Collection<SingleSignOnDocument>;
  readonly signUps: Collection<SignUpDocument>;
  readonly passwordResets: Collection<PasswordResetDocument>;
  readonly signInLimits: Collection<SignInLimitDocument>;
  readonly auditLog: Collection<AuditDocument>;
  readonly memberLocks: Collection<MemberLockDocument>;
  readonly invitations: Collection<InvitationDocument>;
  readonly formerMembers: Collection<FormerMemberDocument>;
  readonly removedMembers: Collection<RemovedMemberDocument>;
  readonly usage: Collection<UsageDocument>;
  readonly apiKeyUses: Collection<ApiKeyUseDocument>;
  readonly usageReports: Collection<UsageReportDocument>;
  readonly mails: Collection<MailDocument>;
  readonly mailbox: Collection<MailboxDocument>;
}

/** One database for both environments: an organization and its users belong to neither. */
export function accountStore(client: MongoClient, prefix: string): AccountStore {
  const db = client.db(databaseName(prefix, "account"), { promoteBuffers: true });
  return {
    db,
    organizations: db.collection("organizations"),
    users: db.collection("users"),
    sessions: db.collection("sessions"),
    passkeys: db.collection("passkeys"),
    passkeyChallenges: db.collection("passkey_challenges"),
    apiKeys: db.collection("api_keys"),
    apiKeyLocks: db.collection("api_key_locks"),
    webhookSecrets: db.collection("webhook_secrets"),
    secondSteps: db.collection("second_steps"),
    singleSignOns: db.collection("single_sign_ons"),
    signUps: db.collection("sign_ups"),
    passwordResets: db.collection("password_resets"),
    signInLimits: db.collection("sign_in_limits"),
    auditLog: db.collection("audit_log"),
    memberLocks: db.collection("member_locks"),
    invitations: db.collection("invitations"),
    formerMembers: db.collection("former_members"),
    removedMembers: db.collection("removed_members"),
    usage: db.collection("usage"),
    apiKeyUses: db.collection("api_key_uses"),
    usageReports: db.collection("usage_reports"),
    mails: db.collection("mails"),
    mailbox: db.collection("mailbox"),
  };
}

/** The tenant as a query: part of every query on what belongs to one. */
export function ofTenant(tenant: Tenant): { organization_id: string; environment: Environment } {
  return { organization_id: tenant.organizationId, environment: tenant.environment };
}

/** The id of what a tenant has exactly one of. */
export function tenantKey(tenant: Tenant): string {
  return `${tenant.organizationId}:${tenant.environment}`;
}
