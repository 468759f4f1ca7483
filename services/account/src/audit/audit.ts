import { createHash } from "node:crypto";
import { type ClientSession, ObjectId } from "mongodb";
import type { AccountStore, AuditDocument, UserDocument } from "../store.ts";

const ID_BYTES = 12;

/** Every action that the audit log can contain. */
export type AuditAction =
  | "organization.created"
  | "organization.suspended"
  | "organization.resumed"
  | "organization.plan_changed"
  | "organization.provider_budget_changed"
  | "organization.tin_match_approved"
  | "organization.tin_match_withdrawn"
  | "organization.private_hosts_changed"
  | "user.created"
  | "user.password_set"
  | "user.signed_up"
  | "user.email_confirmed"
  | "user.password_reset_asked"
  | "user.password_reset"
  | "user.signed_in"
  | "user.sign_in_failed"
  | "user.signed_out"
  | "user.sessions_ended"
  | "user.reauthenticated"
  | "user.password_changed"
  | "user.totp_enabled"
  | "user.totp_disabled"
  | "user.passkey_added"
  | "user.passkey_removed"
  | "user.operator_granted"
  | "user.operator_revoked"
  | "member.role_changed"
  | "member.removed"
  | "member.left"
  | "member.notifications_changed"
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

/** Actions that users and API keys take in other services, by the service that reports them. */
export const reportedActions = {
  "webhook-dispatcher": [
    "webhook_delivery.replayed",
    "webhook_deliveries.replayed",
    "webhook_test.sent",
    "webhook_endpoint.dismissed",
  ],
  monitor: ["monitor.created", "monitor.canceled", "monitor.changed", "monitor.webhook_url_changed"],
  verification: ["verification.asked", "vendor.tin_replaced"],
  dashboard: ["vendor.archived", "vendor.restored", "vendor.number_changed"],
} as const;

export type ReportedAction = (typeof reportedActions)[keyof typeof reportedActions][number];

/** Who acts: a user (usr_…) through the dashboard, or the operator's command. */
export interface Actor {
  readonly actor: string;
  readonly requestId?: string;
  readonly clientAddress?: string;
}

/** A person who runs the operator's command, which requires the credentials of the database instead of an account. */
export const operator: Actor = { actor: "operator" };

export interface AuditEntry extends Pick<AuditDocument, "environment" | "target" | "details"> {
  readonly action: AuditAction;
  readonly organizationId: string;
}

export type AuditLog = ReturnType<typeof createAuditLog>;

/**
 * Creates the audit log. Entries are only added: nothing changes or deletes them before they expire, except that those of
 * failed sign-ins and of verifications count further ones of their hour.
 */
export function createAuditLog({ store, now }: { store: AccountStore; now: () => Date }) {
  return {
    /** Adds an entry in the transaction of the effect that it describes, so that there is no effect without an entry. */
    async append(session: ClientSession, by: Actor, { organizationId, ...entry }: AuditEntry): Promise<void> {
      const document: AuditDocument = {
        organization_id: organizationId,
        environment: entry.environment,
        actor: by.actor,
        action: entry.action,
        target: entry.target,
        at: now(),
        request_id: by.requestId || undefined,
        client_address: by.clientAddress || undefined,
        details: entry.details,
      };
      await store.auditLog.insertOne(document, { session });
    },
  };
}

/** Returns an entry about a user. */
export function userEntry(
  action: AuditAction,
  { _id: target, organization_id: organizationId }: Pick<UserDocument, "_id" | "organization_id">,
  details?: AuditEntry["details"],
): AuditEntry {
  return { action, organizationId, target, details };
}

/** Returns an id that is the same for every replica and call, so that there is one entry of these parts. */
export function entryIdOf(parts: readonly (string | number)[]): ObjectId {
  const hash = createHash("sha256").update(JSON.stringify(parts), "utf8").digest();
  return new ObjectId(hash.subarray(0, ID_BYTES));
}
