/** The actions in the audit log, by area, each with the phrase shown after the actor. */
export const auditActions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Signing in": {
    "user.signed_up": "signed up",
    "user.email_confirmed": "confirmed their email address",
    "user.password_reset_asked": "requested a password reset link for",
    "user.password_reset": "reset their password with a link from an email",
    "user.signed_in": "signed in",
    "user.sign_in_failed": "failed to sign in as",
    "user.signed_out": "signed out",
    "user.sessions_ended": "ended the sessions of",
    "user.reauthenticated": "confirmed their identity",
    "user.password_changed": "changed their password",
    "user.password_set": "set a new password for",
    "user.totp_enabled": "turned on two-factor sign-in",
    "user.totp_disabled": "turned off two-factor sign-in",
    "user.passkey_added": "added a passkey",
    "user.passkey_removed": "removed a passkey",
  },
  Members: {
    "user.created": "created the user",
    "user.operator_granted": "made an operator of the product of",
    "user.operator_revoked": "took back the operator's access of",
    "member.role_changed": "changed the role of",
    "member.removed": "removed",
    "member.left": "left the organization",
    "member.notifications_changed": "changed the notifications of",
    "invitation.created": "sent an invitation",
    "invitation.resent": "resent an invitation",
    "invitation.revoked": "revoked an invitation",
    "invitation.accepted": "accepted an invitation",
  },
  "API keys": {
    "api_key.created": "created an API key",
    "api_key.rolled": "rolled an API key",
    "api_key.revoked": "revoked an API key",
  },
  Webhooks: {
    "webhook_secret.shown": "viewed the webhook secret",
    "webhook_secret.set": "set their own webhook secret",
    "webhook_secret.rotated": "rotated the webhook secret",
    "webhook_secret.previous_ended": "ended the previous webhook secret",
    "webhook_delivery.replayed": "replayed a delivery",
    "webhook_deliveries.replayed": "replayed failed deliveries",
    "webhook_test.sent": "sent a test event",
    "webhook_endpoint.dismissed": "dismissed a webhook endpoint",
  },
  "Monitors and verifications": {
    "monitor.created": "created a monitor",
    "monitor.canceled": "canceled a monitor",
    "monitor.changed": "changed a monitor",
    "monitor.webhook_url_changed": "changed the webhook URL of a monitor",
    "verification.asked": "asked for verifications",
  },
  Vendors: {
    "vendor.archived": "archived a vendor",
    "vendor.restored": "took a vendor back into the list",
    "vendor.number_changed": "changed the vendor number of",
    "vendor.tin_replaced": "replaced the TIN of a vendor",
  },
  Organization: {
    "organization.created": "created the organization",
    "organization.suspended": "suspended the organization",
    "organization.resumed": "resumed the organization",
    "organization.plan_changed": "changed the plan",
    "organization.provider_budget_changed": "changed the budget at a provider",
    "organization.tin_match_approved": "enabled live TIN matching",
    "organization.tin_match_withdrawn": "disabled live TIN matching",
    "organization.private_hosts_changed": "changed the private hosts of webhooks",
  },
};

const phrases: ReadonlyMap<string, string> = new Map(
  Object.values(auditActions).flatMap((actions) => Object.entries(actions)),
);

/** Returns the phrase for an action; an action that this version does not know is shown by its code. */
export function auditPhrase(action: string): string {
  return phrases.get(action) ?? action.replaceAll(/[._]/g, " ");
}
