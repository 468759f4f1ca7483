import { createForwardedWatch, observeRequest } from "@vvs/http";
import { newId } from "@vvs/ids";
import express, { type ErrorRequestHandler, type Express } from "express";
import { createApiKeyHandlers } from "./api-keys/api-keys.ts";
import type { AppOptions } from "./app-options.ts";
import { createAcceptInvitationHandlers } from "./entry/accept-invitation.ts";
import { createMailbox } from "./entry/mailbox.ts";
import { createPasswordReset } from "./entry/password-reset.ts";
import { createSignIn } from "./entry/sign-in.ts";
import { createSignUp } from "./entry/sign-up.ts";
import { createSingleSignOnHandlers } from "./entry/single-sign-on.ts";
import { createFindHandlers } from "./find/find.ts";
import { createAssets } from "./http/assets.ts";
import { compressAnswers } from "./http/compression.ts";
import { refuseForeignForms } from "./http/csrf.ts";
import { readForm } from "./http/form.ts";
import { createFormTokens } from "./http/form-token.ts";
import { type Html, html } from "./http/html.ts";
import { HOME } from "./http/next-path.ts";
import { ProblemError, problemOf } from "./http/problem.ts";
import { createRequirePassword } from "./http/recent-password.ts";
import { securityHeaders } from "./http/security-headers.ts";
import { createBeginSession, createSignedIn, observed, type PageHandler, type ReadAlert } from "./http/session.ts";
import { createChangeMonitorHandlers } from "./monitors/change-monitor.ts";
import { createCreateMonitorHandlers } from "./monitors/create-monitor.ts";
import { createMonitorHandlers } from "./monitors/monitors.ts";
import { createAuditLogHandler } from "./organization/audit-log.ts";
import { createMemberHandlers } from "./organization/members.ts";
import { createOrganizationHandler } from "./organization/organization.ts";
import { createHomeHandler } from "./overview/home.ts";
import { createOverviewHandler } from "./overview/overview.ts";
import type { PageContext } from "./page-context.ts";
import { createProvidersHandler } from "./providers/providers.ts";
import { createSamGovCallsHandler } from "./providers/sam-gov-calls.ts";
import { SAM_GOV_CALLS_PATH } from "./providers/sam-gov-calls-page.ts";
import { createRequestsHandler } from "./requests/requests.ts";
import { createScreeningHandlers } from "./screening/screening.ts";
import { createPasskeyHandlers } from "./security/passkeys.ts";
import { createSecurityHandlers } from "./security/security.ts";
import { createTwoFactorHandlers } from "./security/two-factor.ts";
import { environmentViews, live } from "./ui/environments.ts";
import { createLayout, type Layout } from "./ui/layout.ts";
import { createReadPanel } from "./ui/panels.ts";
import type { Permission } from "./ui/roles.ts";
import { createUsageHandler } from "./usage/usage.ts";
import { createVendorHandlers } from "./vendor/vendor.ts";
import { createVendorNumberHandlers } from "./vendor/vendor-number.ts";
import { createVendorListHandlers } from "./vendor-list/vendor-list.ts";
import { createSearchHandlers, vendorsPath } from "./vendors/search.ts";
import { createSearchLimit } from "./vendors/search-limit.ts";
import { createReadVendors } from "./vendors/vendors.ts";
import { createCertificateHandlers } from "./verifications/certificate.ts";
import { createEvidenceHandlers } from "./verifications/evidence.ts";
import { createRunVerificationHandlers } from "./verifications/run-verification.ts";
import { createVerificationHandlers } from "./verifications/verifications.ts";
import { createDeliveryHandlers } from "./webhooks/deliveries.ts";
import { createReadEndpoints } from "./webhooks/endpoints.ts";
import { endpointsAlert } from "./webhooks/endpoints-page.ts";
import { createReplayFailedHandlers } from "./webhooks/replay-failed.ts";
import { createTestEventHandlers } from "./webhooks/test-event.ts";
import { createWebhookHandlers } from "./webhooks/webhooks.ts";

/** Creates the dashboard with all its routes. */
export function createApp(options: AppOptions): Express {
  const { sessions, logger } = options;
  const assets = createAssets();
  const layout = createLayout({ assetPath: assets.pathOf });
  const readEndpoints = createReadEndpoints(options);
  const context: PageContext = {
    ...options,
    layout,
    formTokens: createFormTokens(),
    beginSession: createBeginSession(sessions),
    readVendors: createReadVendors(options),
    readEndpoints,
    readPanel: createReadPanel(options),
    countSearch: createSearchLimit(options),
  };
  const signIn = createSignIn(context);
  const passkeys = createPasskeyHandlers(context);
  const signUp = createSignUp(context);
  const passwordReset = createPasswordReset(context);
  const invitation = createAcceptInvitationHandlers(context);
  const singleSignOn = createSingleSignOnHandlers(context);
  const apiKeys = createApiKeyHandlers(context);
  const webhooks = createWebhookHandlers(context);
  const deliveries = createDeliveryHandlers(context);
  const replayFailed = createReplayFailedHandlers(context);
  const testEvent = createTestEventHandlers(context);
  const { find } = createFindHandlers(context);
  const overview = createOverviewHandler(context);
  const vendorList = createVendorListHandlers(context);
  const screening = createScreeningHandlers(context);
  const search = createSearchHandlers(context);
  const vendor = createVendorHandlers(context);
  const vendorNumber = createVendorNumberHandlers(context);
  const verifications = createVerificationHandlers(context);
  const certificate = createCertificateHandlers(context);
  const evidence = createEvidenceHandlers(context);
  const runVerification = createRunVerificationHandlers(context);
  const monitors = createMonitorHandlers(context);
  const changeMonitor = createChangeMonitorHandlers(context);
  const createMonitor = createCreateMonitorHandlers(context);
  const providers = createProvidersHandler(context);
  const samGovCalls = createSamGovCallsHandler(context);
  const requests = createRequestsHandler(context);
  const usage = createUsageHandler(context);
  const security = createSecurityHandlers(context);
  const twoFactor = createTwoFactorHandlers(context);
  const plan = createOrganizationHandler(context);
  const members = createMemberHandlers(context);
  const auditLog = createAuditLogHandler(context);
  const requirePassword = createRequirePassword(options);
  const readAlert: ReadAlert = async (visit) =>
    endpointsAlert(visit, await readEndpoints(visit, { limit: 1, flaggedOnly: true }));
  const signedIn = createSignedIn({ ...options, readAlert });

  const app = express();
  const watchForwarded = createForwardedWatch(options);
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("trust proxy", options.trustedProxyHops);
  app.use((request, response, next) => {
    const [clientAddress, serverAddress] = [request.ip ?? "", options.url.hostname];
    const requestId = newId("req");
    watchForwarded(request);
    response.locals.observed = observeRequest(request, response, { logger, requestId, clientAddress, serverAddress });
    next();
  });
  app.use(securityHeaders({ isHttps: options.url.protocol === "https:" }));
  app.use(compressAnswers());
  app.use(assets.router);
  app.use(refuseForeignForms(options.url.origin));
  app.use(readForm);

  app.get(HOME, signedIn(live, "read", createHomeHandler(context)));
  app.get("/sign-in", signIn.show);
  app.post("/sign-in", signIn.signIn);
  app.get("/sign-in/code", signIn.askForCode);
  app.post("/sign-in/code", signIn.finish);
  app.get("/sign-in/sso", singleSignOn.ask);
  app.post("/sign-in/sso", singleSignOn.find);
  app.get("/sign-in/sso/:provider_id", singleSignOn.begin);
  app.get("/sign-in/sso/:provider_id/callback", singleSignOn.finish);
  app.get("/sign-in/passkey", passkeys.askToSignIn);
  app.post("/sign-in/passkey", passkeys.signIn);
  app.post("/sign-out", signIn.signOut);
  app.get("/sign-up", signUp.show);
  app.post("/sign-up", signUp.signUp);
  // Opening the address of a form's answer leads back to the form.
  app.get("/sign-up/resend", (_request, response) => response.redirect(303, "/sign-up"));
  app.post("/sign-up/resend", signUp.resend);
  app.get("/sign-up/confirm", signUp.askForPassword);
  app.post("/sign-up/confirm", signUp.confirm);
  app.get("/forgot-password", passwordReset.ask);
  app.post("/forgot-password", passwordReset.send);
  app.get("/reset-password", passwordReset.choose);
  app.post("/reset-password", passwordReset.reset);
  app.get("/invitation", invitation.show);
  app.post("/invitation", invitation.accept);
  if (options.localMailbox) app.get("/mailbox", createMailbox(context));
  for (const view of environmentViews) {
    const { path } = view;
    const page = (permission: Permission, handle: PageHandler) => signedIn(view, permission, handle);
    app.get(path, (_request, response) => response.redirect(303, `${path}/overview`));
    app.get(`${path}/overview`, page("read", overview));
    app.get(`${path}/vendors`, page("read", vendorList.list));
    app.get(`${path}/vendors.csv`, page("read", vendorList.download));
    app.post(`${path}/vendors/archive`, page("manage_monitors", vendorList.archive));
    // Opening the address of a form's answer leads back to the list.
    app.get(`${path}/vendors/archive`, (_request, response) => response.redirect(303, `${path}/vendors`));
    app.get(`${path}/screening`, page("read", screening.view));
    app.get(`${path}/screening.csv`, page("read", screening.download));
    app.get(`${path}/vendors/search`, page("read", search.ask));
    app.post(`${path}/vendors/search`, page("read", search.submit));
    app.get(`${path}/vendors/:entity_id`, page("read", vendor.view));
    app.post(`${path}/vendors/:entity_id/verify`, page("verify", vendor.verify));
    app.post(`${path}/vendors/:entity_id/monitor`, page("manage_monitors", vendor.monitor));
    // Opening the address of a form's answer leads back to the page with the form.
    app.get([`${path}/vendors/:entity_id/verify`, `${path}/vendors/:entity_id/monitor`], (request, response) =>
      response.redirect(303, `${path}/vendors/${encodeURIComponent(String(request.params.entity_id))}`),
    );
    app.get(`${path}/vendors/:entity_id/vendor-number`, page("verify", vendorNumber.ask));
    app.post(`${path}/vendors/:entity_id/vendor-number`, page("verify", vendorNumber.change));
    // Bookmarks of earlier versions.
    app.get(`${path}/entities{/*rest}`, (request, response) => response.redirect(303, vendorsPath(request.url)));
    app.get(`${path}/verifications`, page("read", verifications.list));
    app.post(`${path}/verifications`, page("verify", runVerification.run));
    app.get(`${path}/verifications/new`, page("verify", runVerification.ask));
    app.get(`${path}/verifications/:verification_id`, page("read", verifications.view));
    app.get(`${path}/verifications/:verification_id/certificate`, page("read", certificate.view));
    app.get(`${path}/verifications/:verification_id/certificate/check`, page("read", certificate.check));
    app.get(`${path}/evidence/:evidence_id`, page("read", evidence.view));
    app.get(`${path}/evidence/:evidence_id/content`, page("read", evidence.download));
    app.get(`${path}/monitors`, page("read", monitors.list));
    app.post(`${path}/monitors`, page("manage_monitors", createMonitor.create));
    app.get(`${path}/monitors/new`, page("manage_monitors", createMonitor.ask));
    app.get(`${path}/monitors/:monitor_id`, page("read", monitors.view));
    app.get(`${path}/monitors/:monitor_id/change`, page("manage_monitors", changeMonitor.ask));
    app.post(`${path}/monitors/:monitor_id/change`, page("manage_monitors", changeMonitor.change));
    app.get(`${path}/monitors/:monitor_id/cancel`, page("manage_monitors", monitors.askToCancel));
    app.post(`${path}/monitors/:monitor_id/cancel`, page("manage_monitors", monitors.cancel));
    app.post(`${path}/find`, page("read", find));
    app.get(`${path}/find`, (_request, response) => response.redirect(303, `${path}/vendors`));
    app.get(`${path}/providers`, page("read", providers));
    app.get(`${path}/requests`, page("read", requests));
    app.get(`${path}/usage`, page("read", usage));
    app.get(`${path}/api-keys`, page("read", apiKeys.list));
    app.post(`${path}/api-keys`, page("manage_keys", requirePassword(apiKeys.create)));
    app.get(`${path}/api-keys/:key_id/roll`, page("manage_keys", requirePassword(apiKeys.askToRoll)));
    app.post(`${path}/api-keys/:key_id/roll`, page("manage_keys", requirePassword(apiKeys.roll)));
    app.get(`${path}/api-keys/:key_id/revoke`, page("manage_keys", apiKeys.askToRevoke));
    app.post(`${path}/api-keys/:key_id/revoke`, page("manage_keys", apiKeys.revoke));
    app.get(`${path}/webhooks`, page("read", webhooks.view));
    app.post(`${path}/webhooks/secret`, page("manage_webhooks", requirePassword(webhooks.setSecret)));
    app.post(`${path}/webhooks/secret/show`, page("manage_webhooks", requirePassword(webhooks.showSecret)));
    app.post(`${path}/webhooks/secret/rotate`, page("manage_webhooks", requirePassword(webhooks.rotateSecret)));
    app.post(
      `${path}/webhooks/secret/end-previous`,
      page("manage_webhooks", requirePassword(webhooks.endPreviousSecret)),
    );
    app.get(`${path}/webhooks/deliveries`, page("read", deliveries.list));
    app.get(`${path}/webhooks/deliveries/:delivery_id`, page("read", deliveries.view));
    app.post(`${path}/webhooks/deliveries/:delivery_id/replay`, page("manage_webhooks", deliveries.replay));
    app.get(`${path}/webhooks/replay`, page("manage_webhooks", replayFailed.ask));
    app.post(`${path}/webhooks/replay`, page("manage_webhooks", replayFailed.run));
    app.get(`${path}/webhooks/test`, page("manage_webhooks", testEvent.ask));
    app.post(`${path}/webhooks/test`, page("manage_webhooks", testEvent.send));
    app.post(`${path}/webhooks/endpoints/dismiss`, page("manage_webhooks", webhooks.dismissEndpoint));
    const list = `${path}/organization/members`;
    /** For forms whose answer is the list of members. */
    const memberForm = (handle: PageHandler) => page("manage_members", requirePassword(handle, list));
    app.get(`${path}/organization`, page("read", plan));
    app.get(`${path}/organization/audit-log`, page("read_audit_log", auditLog));
    app.get(`${path}/organization/leave`, page("read", requirePassword(members.askToLeave)));
    app.post(`${path}/organization/leave`, page("read", requirePassword(members.leave, list)));
    app.get(list, page("read", members.list));
    // Before the routes of members, whose :user_id would match too.
    app.post(`${list}/invitations`, memberForm(members.invite));
    app.post(`${list}/invitations/:invitation_id/resend`, memberForm(members.resendInvitation));
    app.post(`${list}/invitations/:invitation_id/revoke`, memberForm(members.revokeInvitation));
    // Opening the address of a form's answer leads back to the list.
    app.get([`${list}/invitations`, `${list}/invitations/:invitation_id/:form`], (_request, response) =>
      response.redirect(303, list),
    );
    app.get(`${list}/:user_id`, page("manage_members", requirePassword(members.view)));
    app.post(`${list}/:user_id`, memberForm(members.setRole));
    app.get(`${list}/:user_id/remove`, page("manage_members", requirePassword(members.askToRemove)));
    app.post(`${list}/:user_id/remove`, memberForm(members.remove));

    app.get(`${path}/security`, page("read", security.view));
    app.post(`${path}/security/sessions/end`, page("read", security.endSession));
    app.post(`${path}/security/sessions/end-others`, page("read", security.endOtherSessions));
    app.post(`${path}/security/password`, page("read", security.changePassword));
    app.get(`${path}/security/confirm`, page("read", security.askForPassword));
    app.post(`${path}/security/confirm`, page("read", security.confirmPassword));
    app.get(`${path}/security/confirm/passkey`, page("read", passkeys.askToConfirm));
    app.post(`${path}/security/confirm/passkey`, page("read", passkeys.confirm));
    app.get(`${path}/security/passkeys/new`, page("read", requirePassword(passkeys.ask)));
    app.post(`${path}/security/passkeys`, page("read", requirePassword(passkeys.add)));
    app.post(`${path}/security/passkeys/remove`, page("read", requirePassword(passkeys.remove)));
    app.get(`${path}/security/two-factor`, page("read", requirePassword(twoFactor.setUp)));
    app.post(`${path}/security/two-factor`, page("read", requirePassword(twoFactor.enable)));
    app.post(`${path}/security/two-factor/disable`, page("read", requirePassword(twoFactor.disable)));
    // Opening the address of a form's answer leads back to the page with the form.
    for (const form of ["password", "passkeys", "passkeys/remove", "two-factor/disable", "sessions{/:form}"]) {
      app.get(`${path}/security/${form}`, (_request, response) => response.redirect(303, `${path}/security`));
    }
    app.get([`${path}/webhooks/secret{/:form}`, `${path}/webhooks/endpoints/dismiss`], (_request, response) =>
      response.redirect(303, `${path}/webhooks`),
    );
    app.get(`${path}/webhooks/deliveries/:delivery_id/replay`, (request, response) =>
      response.redirect(303, `${path}/webhooks/deliveries/${encodeURIComponent(request.params.delivery_id)}`),
    );
  }
  // The quota is one for all organizations, and only live checks use it.
  app.get(SAM_GOV_CALLS_PATH, signedIn(live, "operate", samGovCalls));
  app.use((_request, _response, next) => next(new ProblemError("page_not_found")));
  app.use(problemPages(layout));
  return app;
}

/** Answers errors with a page that says what happened and what to do. */
function problemPages(layout: Layout): ErrorRequestHandler {
  return (error, request, response, next) => {
    const problem = problemOf(error);
    const { requestId, fields } = observed(response);
    if (problem.status >= 500) fields.err = error;
    if (response.headersSent) return next(error);
    if (problem.retryAfterSeconds) response.set("retry-after", String(problem.retryAfterSeconds));
    const content = html`<div class="card narrow">
<p class="eyebrow">Error ${problem.status}</p>
<h1>${problem.title}</h1>
<p>${problem.text}</p>
${problem.isMissing && request.method === "GET" && otherEnvironment(request.path)}
<p><a class="button" href="/">Go to the dashboard</a></p>
<p class="hint">If you contact support, include the request ID <code>${requestId}</code>.</p>
</div>`;
    layout.sendBarePage(response, { title: problem.title, status: problem.status, content });
  };
}

/** Renders the way to the same page of the other environment, where what is missing may be. */
function otherEnvironment(path: string): Html | undefined {
  const here = environmentViews.find((view) => path.startsWith(`${view.path}/`));
  const other = environmentViews.find((view) => view !== here);
  if (!here || !other) return undefined;
  return html`<p>An ID belongs to one environment, and this is the ${here.name} environment. <a href="${other.path}${path.slice(here.path.length)}">Look for it in ${other.name}</a>.</p>`;
}
