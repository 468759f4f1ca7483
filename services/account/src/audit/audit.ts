import type { Environment } from "@vvs/tenant";
import type { ClientSession } from "mongodb";
import type { AccountStore } from "../store.ts";

/** What the audit log tells of. */
export type AuditAction =
  | "organization.created"
  | "organization.suspended"
  | "organization.resumed"
  | "organization.plan_changed"
  | "user.created"
  | "user.password_set"
  | "user.signed_up"
  | "user.email_confirmed"
  | "user.password_reset_asked"
  | "user.password_reset"
  | "user.signed_in"
  | "user.signed_out"
  | "user.sessions_ended"
  | "user.reauthenticated"
  | "user.password_changed"
  | "user.totp_enabled"
  | "user.totp_disabled"
  | "user.passkey_added"
  | "user.passkey_removed"
  | "member.role_changed"
  | "member.removed"
  | "member.left"
  | "invitation.created"
  | "invitation.resent"
  | "invitation.revoked"
  | "invitation.accepted"
  | "api_key.created"
  | "api_key.rolled"
  | "api_key.revoked"
  | "webhook_secret.shown"
  | "webhook_secret.set"
  | "webhook_secret.rotated"
  | "webhook_secret.previous_ended"
  | ReportedAction;

/** What users have other services do, which report it before they do it. */
export const reportedActions = [
  "webhook_delivery.replayed",
  "webhook_deliveries.replayed",
  "webhook_test.sent",
] as const;

export type ReportedAction = (typeof reportedActions)[number];

/** Who acts: a user (usr_…) through the dashboard, or the operator's command. */
export interface Actor {
  readonly actor: string;
  readonly requestId?: string;
  readonly clientAddress?: string;
}

/** Whoever runs the operator's command: it needs the database's credentials, not an account. */
export const operator: Actor = { actor: "operator" };

export interface AuditEntry {
  readonly action: AuditAction;
  readonly organizationId: string;
  readonly environment?: Environment;
  /** The id of what was acted on. */
  readonly target: string;
  /** What changed; never a secret. */
  readonly details?: Readonly<Record<string, string | number>>;
}

export interface AuditLog {
  /** Appends an entry in the transaction of the effect it tells of: there is no effect without its entry. */
  append(session: ClientSession, by: Actor, entry: AuditEntry): Promise<void>;
}

/** The audit log: appended to, read by people, changed by nothing. */
export function createAuditLog(options: { store: AccountStore; now: () => Date }): AuditLog {
  return {
    async append(session, by, entry) {
      await options.store.auditLog.insertOne(
        {
          organization_id: entry.organizationId,
          ...(entry.environment && { environment: entry.environment }),
          actor: by.actor,
          action: entry.action,
          target: entry.target,
          at: options.now(),
          ...(by.requestId && { request_id: by.requestId }),
          ...(by.clientAddress && { client_address: by.clientAddress }),
          ...(entry.details && { details: entry.details }),
        },
        { session },
      );
    },
  };
}
