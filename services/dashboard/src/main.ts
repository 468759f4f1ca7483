import type { DescService } from "@bufbuild/protobuf";
import { createAdmission } from "@vvs/fair-queue";
import { serveHttp } from "@vvs/http";
import { runService } from "@vvs/lifecycle";
import { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import { EntryService } from "@vvs/proto/account/v1/entry";
import { OrganizationService } from "@vvs/proto/account/v1/organization";
import { PasskeyService } from "@vvs/proto/account/v1/passkeys";
import { RequestLogService } from "@vvs/proto/account/v1/request_log";
import { SessionService } from "@vvs/proto/account/v1/sessions";
import { SingleSignOnService } from "@vvs/proto/account/v1/single_sign_on";
import { UsageService } from "@vvs/proto/account/v1/usage";
import { WebhookSecretService } from "@vvs/proto/account/v1/webhook_secrets";
import { EntityService } from "@vvs/proto/entity/v1/entity";
import { VendorListService } from "@vvs/proto/entity/v1/vendors";
import { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { WebhookDispatcherService } from "@vvs/proto/webhook/v1/webhook";
import { type Client, createClient, tlsFiles } from "@vvs/rpc";
import { createApp } from "./app.ts";
import { loadDashboardConfig } from "./config.ts";

const NAME = "dashboard";

await runService(NAME, loadDashboardConfig, async ({ config, logger, onClose, stopping }) => {
  const shared = { caller: NAME, tls: tlsFiles(config), logger };
  const connect = <S extends DescService>(service: S, address: string): Client<S> => {
    const client = createClient(service, { ...shared, address });
    onClose(`${service.typeName} client`, () => client.close());
    return client;
  };
  const { ACCOUNT_ADDRESS: keys, ACCOUNT_PEOPLE_ADDRESS: people = keys } = config;
  const app = createApp({
    apiKeys: connect(ApiKeyService, keys),
    webhookSecrets: connect(WebhookSecretService, keys),
    usage: connect(UsageService, keys),
    requestLog: connect(RequestLogService, keys),
    auditLog: connect(AuditLogService, keys),
    sessions: connect(SessionService, people),
    organization: connect(OrganizationService, people),
    singleSignOn: connect(SingleSignOnService, people),
    passkeys: connect(PasskeyService, people),
    entry: connect(EntryService, people),
    deliveries: connect(WebhookDispatcherService, config.WEBHOOK_DISPATCHER_ADDRESS),
    verification: connect(VerificationService, config.VERIFICATION_ADDRESS),
    entities: connect(EntityService, config.ENTITY_ADDRESS),
    vendorList: connect(VendorListService, config.ENTITY_ADDRESS),
    monitors: connect(MonitorService, config.MONITOR_ADDRESS),
    admit: createAdmission({ seats: config.CALL_SEATS }),
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
