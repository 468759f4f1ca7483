import { databaseName } from "@vvs/mongo";
import type { Sealed } from "@vvs/sealing";
import type { Environment, Tenant } from "@vvs/tenant";
import type { MongoClient } from "mongodb";
import type { LoggedRequestDocument, RequestAllowanceDocument, RequestGapDocument } from "./model/logged-requests.ts";
import type { MailboxDocument, MailDocument } from "./model/mail.ts";
import type {
  GatheredNotificationDocument,
  NotificationSettingsDocument,
  PendingNotificationsDocument,
} from "./model/notifications.ts";
import type { PlanTerms } from "./model/plans.ts";
import type { Role } from "./model/roles.ts";

export interface OrganizationDocument extends PlanTerms {
  /** org_…. */
  readonly _id: string;
  readonly name: string;
  readonly status: "active" | "suspended";
  /** The operator approved live tin_match. Absent: not approved. */
  readonly live_tin_match?: boolean;
  /** Exact hosts to which its webhooks are delivered even at a private address. Absent: none. */
  readonly private_hosts?: readonly string[];
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
  /** One of the product's operators; only the operator's command sets it. */
  readonly is_operator?: true;
  readonly created_at: Date;
  readonly last_signed_in_at?: Date;
  /** The authenticator app that sign-ins ask for. */
  readonly totp?: TotpDocument;
  /** Identity at the organization's identity provider, after the first sign-in with it. */
  readonly identity?: { readonly issuer: string; readonly subject: string };
  /** The secret of an app that is being set up. */
  readonly totp_setup?: SealedSecret;
  /** Number of passkeys ever added. Each addition writes it, so that concurrent additions conflict and count again. */
  readonly passkeys_added?: number;
  /** Number of changes that only a member may make (`requireSecretManager`). */
  readonly guarded_actions?: number;
}

export interface TotpDocument {
  readonly sealed: Sealed;
  readonly enabled_at: Date;
  /** The latest step of 30 s whose code was used. Its code and earlier ones are refused. */
  readonly last_step: number;
  /** SHA-256, in hex, of the unused recovery codes. */
  readonly recovery_hashes: readonly string[];
}

/** A token that works once, until it expires. */
export interface OneTimeToken {
  /** SHA-256 of the token, in hex. */
  readonly _id: string;
  readonly expires_at: Date;
}

/** A token that is of use until its user has a new password. */
export interface UserTokenDocument extends OneTimeToken {
  readonly user_id: string;
  /** The user's hash when the token was issued. */
  readonly password_hash: string;
}

/** A sign-up whose address is not confirmed yet. */
export interface SignUpDocument extends OneTimeToken {
  /** In lower case; several sign-ups may have the same. */
  readonly email: string;
  readonly password_hash: string;
  readonly organization_name: string;
  /** IP address of the browser. */
  readonly client_address: string;
  /** When the form was submitted; the same for a link that is sent again. */
  readonly asked_at: Date;
  readonly created_at: Date;
}

export interface SessionDocument {
  /** SHA-256 of the token, in hex, which can't be used to sign in. */
  readonly _id: string;
  readonly user_id: string;
  readonly organization_id: string;
  readonly created_at: Date;
  readonly last_seen_at: Date;
  /** When it ends at the latest. */
  readonly expires_at: Date;
  /** When its user last confirmed their identity. */
  readonly authenticated_at: Date;
  /** IP address of the sign-in. */
  readonly client_address?: string;
  /** User agent of the browser. */
  readonly user_agent?: string;
  /** The identity provider of the sign-in; absent if it was a password or a passkey. */
  readonly identity_provider_id?: string;
  /** Number of changes to the account's security in this session. Each change writes it, to conflict with the session's end. */
  readonly security_changes?: number;
}

/** A passkey, with which a user signs in instead of a password and a code. */
export interface PasskeyDocument {
  /** pky_…. */
  readonly _id: string;
  readonly user_id: string;
  readonly organization_id: string;
  /** The id that its device gave it, base64url; unique. */
  readonly credential_id: string;
  /** COSE. */
  readonly public_key: Buffer;
  /** How often it was used, by its own count; always 0 for a passkey on several devices. */
  readonly counter: number;
  /** How browsers connect to its device. */
  readonly transports: readonly string[];
  readonly name: string;
  readonly created_at: Date;
  readonly last_used_at?: Date;
}

export interface ApiKeyDocument {
  /** key_…. */
  readonly _id: string;
  readonly organization_id: string;
  readonly environment: Environment;
  /** HMAC-SHA256 of the whole key with the pepper; unique. */
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
  /** When another key replaced it. It still works until it expires. */
  readonly rolled_at?: Date;
  /** The key that replaced it. */
  readonly rolled_to?: string;
  /** The form that created it; unique within its tenant. */
  readonly submission?: string;
}

/** Written by each creation of a key, so that concurrent creations conflict and count again. */
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
  /** The submitted form that created it, if any. */
  readonly submission?: string;
}

export interface WebhookSecretDocument {
  /** <organization>:<environment>. */
  readonly _id: string;
  readonly organization_id: string;
  readonly environment: Environment;
  readonly current: SealedSecret;
  /** The previous secret during a rotation. */
  readonly previous?: SealedSecret & { readonly valid_until: Date };
}

/** Attempts of an account, a device, a client address … within a window that began with the first. */
export interface SignInLimitDocument {
  /** The kind of attempts and who makes them, such as address:<address> or mail:reset:account:<hash>. */
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
  /** By class of duration, without classes that have no requests. */
  readonly durations: Readonly<Record<string, number>>;
  readonly last_at: Date;
}

/** Separate from the keys, because gateways receive every change of a key. */
export interface ApiKeyUseDocument {
  /** key_…. */
  readonly _id: string;
  readonly organization_id: string;
  readonly environment: Environment;
  readonly last_used_at: Date;
}

/** A gateway's report of use or of requests that took effect, so that it does so once. */
export interface UsageReportDocument {
  readonly _id: string;
  readonly at: Date;
}

export interface AuditDocument {
  readonly organization_id: string;
  readonly environment?: Environment;
  /** usr_…, key_… or operator. */
  readonly actor: string;
  readonly action: string;
  /** Id of the object of the action. */
  readonly target: string;
  readonly at: Date;
  readonly request_id?: string;
  readonly client_address?: string;
  /** What changed; never a secret. */
  readonly details?: Readonly<Record<string, string | number>>;
}

/** Written by each change of an organization's members, so that concurrent changes conflict and read again. */
export interface MemberLockDocument {
  /** org_…. */
  readonly _id: string;
  readonly changes: number;
}

/** An invitation to become a member, until it is accepted. */
export interface InvitationDocument {
  /** inv_…. */
  readonly _id: string;
  readonly organization_id: string;
  /** In lower case; unique in the organization. */
  readonly email: string;
  readonly role: Role;
  /** SHA-256 of the newest link's token, in hex. */
  readonly token_hash: string;
  readonly invited_by: string;
  readonly created_at: Date;
  /** When it was last sent. */
  readonly sent_at: Date;
  readonly expires_at: Date;
}

/** A former member, whose address the audit log still shows. */
export interface FormerMemberDocument {
  /** usr_…. */
  readonly _id: string;
  readonly organization_id: string;
  readonly email: string;
  readonly removed_at: Date;
}

/** A person whom an owner or the operator removed, until they are a member again. */
export interface RemovedMemberDocument {
  /** usr_…. */
  readonly _id: string;
  readonly organization_id: string;
  readonly email: string;
  /** Identity at the organization's identity provider, if they signed in with it. */
  readonly identity?: UserDocument["identity"];
  readonly removed_at: Date;
}

/** The collections of the account database. */
export type AccountStore = ReturnType<typeof accountStore>;

/** Returns the account database. Both environments share it: an organization and its users belong to neither. */
export function accountStore(client: MongoClient, prefix: string) {
  const db = client.db(databaseName(prefix, "account"), { promoteBuffers: true });
  return {
    db,
    organizations: db.collection<OrganizationDocument>("organizations"),
    users: db.collection<UserDocument>("users"),
    sessions: db.collection<SessionDocument>("sessions"),
    passkeys: db.collection<PasskeyDocument>("passkeys"),
    passkeyChallenges: db.collection<OneTimeToken>("passkey_challenges"),
    apiKeys: db.collection<ApiKeyDocument>("api_keys"),
    apiKeyLocks: db.collection<ApiKeyLockDocument>("api_key_locks"),
    webhookSecrets: db.collection<WebhookSecretDocument>("webhook_secrets"),
    secondSteps: db.collection<UserTokenDocument>("second_steps"),
    singleSignOns: db.collection<OneTimeToken>("single_sign_ons"),
    signUps: db.collection<SignUpDocument>("sign_ups"),
    passwordResets: db.collection<UserTokenDocument>("password_resets"),
    // Not confirmed by a majority: a fail-over loses the newest counts, a flood of attempts costs no flush of the disk, and
    // whoever reads a count sees the newest.
    signInLimits: db.collection<SignInLimitDocument>("sign_in_limits", {
      readConcern: { level: "local" },
      writeConcern: { w: 1 },
    }),
    auditLog: db.collection<AuditDocument>("audit_log"),
    memberLocks: db.collection<MemberLockDocument>("member_locks"),
    invitations: db.collection<InvitationDocument>("invitations"),
    formerMembers: db.collection<FormerMemberDocument>("former_members"),
    removedMembers: db.collection<RemovedMemberDocument>("removed_members"),
    usage: db.collection<UsageDocument>("usage"),
    apiKeyUses: db.collection<ApiKeyUseDocument>("api_key_uses"),
    usageReports: db.collection<UsageReportDocument>("usage_reports"),
    requestLog: db.collection<LoggedRequestDocument>("request_log"),
    requestAllowances: db.collection<RequestAllowanceDocument>("request_allowances"),
    requestGaps: db.collection<RequestGapDocument>("request_gaps"),
    mails: db.collection<MailDocument>("mails"),
    mailbox: db.collection<MailboxDocument>("mailbox"),
    notificationSettings: db.collection<NotificationSettingsDocument>("notification_settings"),
    pendingNotifications: db.collection<PendingNotificationsDocument>("pending_notifications"),
    gatheredNotifications: db.collection<GatheredNotificationDocument>("gathered_notifications"),
  };
}

/** Returns the part of every query that restricts it to a tenant. */
export function ofTenant(tenant: Tenant): { organization_id: string; environment: Environment } {
  return { organization_id: tenant.organizationId, environment: tenant.environment };
}

/** Returns the id of documents that each tenant has exactly one of. */
export function tenantKey(tenant: Tenant): string {
  return `${tenant.organizationId}:${tenant.environment}`;
}
