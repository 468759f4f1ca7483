import type { DescService } from "@bufbuild/protobuf";
import { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import { EntryService } from "@vvs/proto/account/v1/entry";
import { NotificationSettingsService } from "@vvs/proto/account/v1/notifications";
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
import { JobService } from "@vvs/proto/verification/v1/jobs";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { WebhookDispatcherService } from "@vvs/proto/webhook/v1/webhook";
import type { Client } from "@vvs/rpc";

/** The gRPC services that the dashboard calls, and the processes that serve them. */
const services = {
  apiKeys: [ApiKeyService, "keys"],
  webhookSecrets: [WebhookSecretService, "keys"],
  usage: [UsageService, "keys"],
  requestLog: [RequestLogService, "keys"],
  auditLog: [AuditLogService, "keys"],
  sessions: [SessionService, "people"],
  organization: [OrganizationService, "people"],
  singleSignOn: [SingleSignOnService, "people"],
  passkeys: [PasskeyService, "people"],
  entry: [EntryService, "people"],
  notificationSettings: [NotificationSettingsService, "people"],
  deliveries: [WebhookDispatcherService, "dispatcher"],
  verification: [VerificationService, "verification"],
  jobs: [JobService, "verification"],
  entities: [EntityService, "entity"],
  vendorList: [VendorListService, "entity"],
  monitors: [MonitorService, "monitor"],
} as const;

type Name = keyof typeof services;
export type Server = (typeof services)[Name][1];

export type Clients = { readonly [N in Name]: Client<(typeof services)[N][0]> };

/** Creates the clients of all services. */
export function createClients(connect: <S extends DescService>(service: S, server: Server) => Client<S>): Clients {
  const clients = Object.entries(services).map(([name, [service, server]]) => [name, connect(service, server)]);
  return Object.fromEntries(clients);
}
