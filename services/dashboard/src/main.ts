import { serveHttp } from "@vvs/http";
import { runService } from "@vvs/lifecycle";
import { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import { EntryService } from "@vvs/proto/account/v1/entry";
import { OrganizationService } from "@vvs/proto/account/v1/organization";
import { PasskeyService } from "@vvs/proto/account/v1/passkeys";
import { SessionService } from "@vvs/proto/account/v1/sessions";
import { SingleSignOnService } from "@vvs/proto/account/v1/single_sign_on";
import { UsageService } from "@vvs/proto/account/v1/usage";
import { WebhookSecretService } from "@vvs/proto/account/v1/webhook_secrets";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { WebhookDispatcherService } from "@vvs/proto/webhook/v1/webhook";
import { createClient, tlsFiles } from "@vvs/rpc";
import { createApp } from "./app.ts";
import { loadDashboardConfig } from "./config.ts";

const NAME = "dashboard";

await runService(NAME, loadDashboardConfig, async ({ config, logger, onClose, stopping }) => {
  const tls = tlsFiles(config);
  const shared = { caller: NAME, tls, logger };
  const sessions = createClient(SessionService, { ...shared, address: config.ACCOUNT_ADDRESS });
  onClose("sessions client", () => sessions.close());
  const apiKeys = createClient(ApiKeyService, { ...shared, address: config.ACCOUNT_ADDRESS });
  onClose("API keys client", () => apiKeys.close());
  const webhookSecrets = createClient(WebhookSecretService, { ...shared, address: config.ACCOUNT_ADDRESS });
  onClose("webhook secrets client", () => webhookSecrets.close());
  const usage = createClient(UsageService, { ...shared, address: config.ACCOUNT_ADDRESS });
  onClose("usage client", () => usage.close());
  const auditLog = createClient(AuditLogService, { ...shared, address: config.ACCOUNT_ADDRESS });
  onClose("audit log client", () => auditLog.close());
  const organization = createClient(OrganizationService, { ...shared, address: config.ACCOUNT_ADDRESS });
  onClose("organization client", () => organization.close());
  const singleSignOn = createClient(SingleSignOnService, { ...shared, address: config.ACCOUNT_ADDRESS });
  onClose("single sign-on client", () => singleSignOn.close());
  const passkeys = createClient(PasskeyService, { ...shared, address: config.ACCOUNT_ADDRESS });
  onClose("passkeys client", () => passkeys.close());
  const entry = createClient(EntryService, { ...shared, address: config.ACCOUNT_ADDRESS });
  onClose("entry client", () => entry.close());
  const deliveries = createClient(WebhookDispatcherService, { ...shared, address: config.WEBHOOK_DISPATCHER_ADDRESS });
  onClose("webhook dispatcher client", () => deliveries.close());
  const verification = createClient(VerificationService, { ...shared, address: config.VERIFICATION_ADDRESS });
  onClose("verification client", () => verification.close());
  const entities = createClient(EntityService, { ...shared, address: config.ENTITY_ADDRESS });
  onClose("entity client", () => entities.close());
  const monitors = createClient(MonitorService, { ...shared, address: config.MONITOR_ADDRESS });
  onClose("monitor client", () => monitors.close());

  const app = createApp({
    sessions,
    apiKeys,
    webhookSecrets,
    usage,
    auditLog,
    organization,
    singleSignOn,
    passkeys,
    entry,
    deliveries,
    verification,
    entities,
    monitors,
    url: config.DASHBOARD_URL,
    apiBaseUrl: config.PUBLIC_BASE_URL,
    trustedProxyHops: config.TRUSTED_PROXY_HOPS,
    localMailbox: config.LOCAL_MAILBOX,
    logger,
    now: () => new Date(),
  });
  const server = await serveHttp({
    listener: app,
    host: config.HTTP_HOST,
    port: config.HTTP_PORT,
    keepAliveSeconds: 620,
    maxConnections: 5_000,
    stopping,
  });
  onClose("http server", () => server.close());
  logger.info({ port: server.port }, "serving");
});
