import { createApiKeyHandlers } from "./api-keys/api-keys.ts";
import type { Permission } from "./http/roles.ts";
import type { PageHandler } from "./http/session.ts";
import { requireConfirmed } from "./http/session.ts";
import { createChangesHandler } from "./lists/changes.ts";
import { createListHandlers } from "./lists/list.ts";
import { createListOfLists } from "./lists/lists.ts";
import { createMonitorPassedHandler } from "./lists/monitor-passed.ts";
import { createPreviewHandlers } from "./lists/preview.ts";
import { createUploadHandlers } from "./lists/upload-form.ts";
import { createMonitorHandlers } from "./monitors/monitor.ts";
import { createChangeMonitorHandlers } from "./monitors/monitor-form.ts";
import { createMonitorList } from "./monitors/monitor-list.ts";
import { createNotificationHandlers } from "./notifications/notifications.ts";
import { createAuditLog } from "./organization/audit-log.ts";
import { createMemberHandlers } from "./organization/members.ts";
import { createOrganizationHandler } from "./organization/organization.ts";
import { createOverviewHandler } from "./overview/overview.ts";
import type { PageContext } from "./page/page-context.ts";
import { createProvidersHandler } from "./providers/providers.ts";
import { createRequestList } from "./requests/requests.ts";
import { createPasskeyHandlers } from "./security/passkeys.ts";
import { createSecurityHandlers } from "./security/security.ts";
import { createTwoFactorHandlers } from "./security/two-factor.ts";
import { createUsageHandler } from "./usage/usage.ts";
import { createFindHandlers } from "./vendors/find.ts";
import { createScreeningHandlers } from "./vendors/screening.ts";
import { createSearchHandlers } from "./vendors/search.ts";
import { createSearchLimit } from "./vendors/search-input.ts";
import { createVendorHandlers } from "./vendors/vendor.ts";
import { createVendorList } from "./vendors/vendor-list.ts";
import { createVendorNumberHandlers } from "./vendors/vendor-number.ts";
import { createCertificateHandlers } from "./verifications/certificate.ts";
import { createEvidenceHandlers } from "./verifications/evidence.ts";
import { createRunVerificationHandlers } from "./verifications/run-verification.ts";
import { createVerificationHandler } from "./verifications/verification.ts";
import { createVerificationList } from "./verifications/verification-list.ts";
import { createDeliveryHandlers } from "./webhooks/delivery.ts";
import { createDeliveryList } from "./webhooks/delivery-list.ts";
import { createReplayFailedHandlers } from "./webhooks/replay-failed.ts";
import { createTestEventHandlers } from "./webhooks/test-event.ts";
import { createWebhookHandlers } from "./webhooks/webhooks.ts";

/**
 * A route of signed-in users, in both environments. Its path is below that of the environment. `back` is for forms: the
 * page to which opening their address leads.
 */
type PageRoute = readonly [
  method: "get" | "post",
  path: string,
  permission: Permission,
  handle: PageHandler,
  back?: string,
];

const WEBHOOKS = "/webhooks";
const DELIVERY = `${WEBHOOKS}/deliveries/:delivery_id`;
const MEMBERS = "/organization/members";
const INVITATION = `${MEMBERS}/invitations/:invitation_id`;

/** Returns the routes of signed-in users. */
export function pageRoutes(context: PageContext): readonly PageRoute[] {
  const countSearch = createSearchLimit(context);
  const vendors = createVendorList(context);
  const screening = createScreeningHandlers(context);
  const search = createSearchHandlers(context, countSearch);
  const vendor = createVendorHandlers(context);
  const vendorNumber = createVendorNumberHandlers(context);
  const run = createRunVerificationHandlers(context);
  const certificate = createCertificateHandlers(context);
  const evidence = createEvidenceHandlers(context);
  const monitor = createMonitorHandlers(context);
  const change = createChangeMonitorHandlers(context);
  const upload = createUploadHandlers(context);
  const preview = createPreviewHandlers(context);
  const list = createListHandlers(context);
  const keys = createApiKeyHandlers(context);
  const webhooks = createWebhookHandlers(context);
  const delivery = createDeliveryHandlers(context);
  const replay = createReplayFailedHandlers(context);
  const test = createTestEventHandlers(context);
  const members = createMemberHandlers(context);
  const passkeys = createPasskeyHandlers(context);
  const security = createSecurityHandlers(context);
  const twoFactor = createTwoFactorHandlers(context);
  const notifications = createNotificationHandlers(context);
  return [
    ["get", "/overview", "read", createOverviewHandler(context)],

    ["get", "/vendors", "read", vendors.list],
    ["get", "/vendors.csv", "read", vendors.download],
    ["post", "/vendors/archive", "manage_monitors", vendors.archive, "/vendors"],
    ["get", "/screening", "read", screening.view],
    ["get", "/screening.csv", "read", screening.download],
    ["get", "/vendors/search", "read", search.ask],
    ["post", "/vendors/search", "read", search.submit],
    ["get", "/vendors/:entity_id", "read", vendor.view],
    ["post", "/vendors/:entity_id/verify", "verify", vendor.verify, "/vendors/:entity_id"],
    ["post", "/vendors/:entity_id/monitor", "manage_monitors", vendor.monitor, "/vendors/:entity_id"],
    ["get", "/vendors/:entity_id/vendor-number", "verify", vendorNumber.ask],
    ["post", "/vendors/:entity_id/vendor-number", "verify", vendorNumber.change],
    ["post", "/find", "read", createFindHandlers(context, countSearch).find, "/vendors"],

    ["get", "/verifications", "read", createVerificationList(context).list],
    ["post", "/verifications", "verify", run.run],
    ["get", "/verifications/new", "verify", run.ask],
    ["get", "/verifications/:verification_id", "read", createVerificationHandler(context)],
    ["get", "/verifications/:verification_id/certificate", "read", certificate.view],
    ["get", "/verifications/:verification_id/receipt", "read", certificate.receipt],
    ["get", "/evidence/:evidence_id", "read", evidence.view],
    ["get", "/evidence/:evidence_id/content", "read", evidence.download],

    ["get", "/monitors", "read", createMonitorList(context).list],
    ["get", "/monitors/:monitor_id", "read", monitor.view],
    ["get", "/monitors/:monitor_id/change", "manage_monitors", change.ask],
    ["post", "/monitors/:monitor_id/change", "manage_monitors", change.change],
    ["get", "/monitors/:monitor_id/cancel", "manage_monitors", monitor.askToCancel],
    ["post", "/monitors/:monitor_id/cancel", "manage_monitors", monitor.cancel],

    ["get", "/lists", "read", createListOfLists(context).list],
    ["post", "/lists", "verify", preview.start],
    ["get", "/lists/new", "verify", upload.ask],
    ["get", "/lists/sample.csv", "read", upload.sample],
    ["post", "/lists/preview", "verify", preview.preview, "/lists/new"],
    ["get", "/lists/:job_id.csv", "read", list.download],
    ["get", "/lists/:job_id", "read", list.view],
    ["get", "/lists/:job_id/changes", "read", createChangesHandler(context)],
    ["post", "/lists/:job_id/cancel", "verify", list.cancel, "/lists/:job_id"],
    ["post", "/lists/:job_id/monitors", "manage_monitors", createMonitorPassedHandler(context), "/lists/:job_id"],

    ["get", "/providers", "read", createProvidersHandler(context)],
    ["get", "/requests", "read", createRequestList(context).list],
    ["get", "/usage", "read", createUsageHandler(context)],

    ["get", "/api-keys", "read", keys.list],
    ["post", "/api-keys", "manage_keys", requireConfirmed(keys.create)],
    ["get", "/api-keys/:key_id/roll", "manage_keys", requireConfirmed(keys.askToRoll)],
    ["post", "/api-keys/:key_id/roll", "manage_keys", requireConfirmed(keys.roll)],
    ["get", "/api-keys/:key_id/revoke", "manage_keys", keys.askToRevoke],
    ["post", "/api-keys/:key_id/revoke", "manage_keys", keys.revoke],

    ["get", WEBHOOKS, "read", webhooks.view],
    ["post", "/webhooks/secret", "manage_webhooks", requireConfirmed(webhooks.setSecret), WEBHOOKS],
    ["post", "/webhooks/secret/show", "manage_webhooks", requireConfirmed(webhooks.showSecret), WEBHOOKS],
    ["post", "/webhooks/secret/rotate", "manage_webhooks", requireConfirmed(webhooks.rotateSecret), WEBHOOKS],
    [
      "post",
      "/webhooks/secret/end-previous",
      "manage_webhooks",
      requireConfirmed(webhooks.endPreviousSecret),
      WEBHOOKS,
    ],
    ["post", "/webhooks/endpoints/dismiss", "manage_webhooks", webhooks.dismissEndpoint, WEBHOOKS],
    ["get", "/webhooks/deliveries", "read", createDeliveryList(context).list],
    ["get", DELIVERY, "read", delivery.view],
    ["post", `${DELIVERY}/replay`, "manage_webhooks", delivery.replay, DELIVERY],
    ["get", "/webhooks/replay", "manage_webhooks", replay.ask],
    ["post", "/webhooks/replay", "manage_webhooks", replay.run],
    ["get", "/webhooks/test", "manage_webhooks", test.ask],
    ["post", "/webhooks/test", "manage_webhooks", test.send],

    ["get", "/organization", "read", createOrganizationHandler(context)],
    ["get", "/organization/audit-log", "read_audit_log", createAuditLog(context).list],
    ["get", "/organization/leave", "read", requireConfirmed(members.askToLeave)],
    ["post", "/organization/leave", "read", requireConfirmed(members.leave, MEMBERS)],
    ["get", MEMBERS, "read", members.list],
    // Before the routes of members, whose :user_id would match too.
    ["post", `${MEMBERS}/invitations`, "manage_members", requireConfirmed(members.invite, MEMBERS), MEMBERS],
    ["post", `${INVITATION}/resend`, "manage_members", requireConfirmed(members.resendInvitation, MEMBERS), MEMBERS],
    ["post", `${INVITATION}/revoke`, "manage_members", requireConfirmed(members.revokeInvitation, MEMBERS), MEMBERS],
    ["get", `${MEMBERS}/:user_id`, "manage_members", requireConfirmed(members.view)],
    ["post", `${MEMBERS}/:user_id`, "manage_members", requireConfirmed(members.setRole, MEMBERS)],
    ["get", `${MEMBERS}/:user_id/remove`, "manage_members", requireConfirmed(members.askToRemove)],
    ["post", `${MEMBERS}/:user_id/remove`, "manage_members", requireConfirmed(members.remove, MEMBERS)],

    ["get", "/security", "read", security.view],
    ["post", "/security/sessions/end", "read", security.endSession, "/security"],
    ["post", "/security/sessions/end-others", "read", security.endOtherSessions, "/security"],
    ["post", "/security/password", "read", security.changePassword, "/security"],
    ["get", "/security/confirm", "read", security.askForPassword],
    ["post", "/security/confirm", "read", security.confirmPassword],
    ["get", "/security/confirm/passkey", "read", passkeys.askToConfirm],
    ["post", "/security/confirm/passkey", "read", passkeys.confirm],
    ["get", "/security/passkeys/new", "read", requireConfirmed(passkeys.ask)],
    ["post", "/security/passkeys", "read", requireConfirmed(passkeys.add), "/security"],
    ["post", "/security/passkeys/remove", "read", requireConfirmed(passkeys.remove), "/security"],
    ["get", "/security/two-factor", "read", requireConfirmed(twoFactor.setUp)],
    ["post", "/security/two-factor", "read", requireConfirmed(twoFactor.enable)],
    ["post", "/security/two-factor/disable", "read", requireConfirmed(twoFactor.disable), "/security"],

    ["get", "/notifications", "read", notifications.view],
    ["post", "/notifications", "read", notifications.save],
  ];
}
