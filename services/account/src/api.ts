import type { Logger } from "@vvs/logging";
import type { ServicePart } from "@vvs/rpc";
import { createApiKeyPart } from "./api-keys/api-key-api.ts";
import type { KeyFeed } from "./api-keys/key-feed.ts";
import { createAuditLogPart } from "./audit/audit-log-api.ts";
import type { ServiceName } from "./config.ts";
import type { AccountDomain } from "./domain.ts";
import type { Mailing } from "./mail/start.ts";
import type { AccountMetrics } from "./metrics.ts";
import { createOrganizationPart } from "./organizations/organization-api.ts";
import { createOrganizationStatusPart } from "./organizations/organization-status-api.ts";
import { createPasskeyPart } from "./passkeys/passkey-api.ts";
import { createEntryPart } from "./sessions/entry-api.ts";
import { createSessionPart } from "./sessions/session-api.ts";
import { createSingleSignOnPart } from "./sso/single-sign-on-api.ts";
import { createUsagePart } from "./usage/usage-api.ts";
import { createWebhookSecretPart } from "./webhook-secrets/webhook-secret-api.ts";

/** Returns the gRPC services of these names. */
export function createServices(options: {
  names: readonly ServiceName[];
  domain: AccountDomain;
  keyFeed: KeyFeed;
  /** Absent if this process sends no emails. */
  mailing: Pick<Mailing, "isConfigured" | "mailbox"> | undefined;
  signUpOpen: boolean;
  metrics: AccountMetrics;
  logger: Logger;
}): ServicePart[] {
  const { isConfigured: mailSent = false, mailbox } = options.mailing ?? {};
  const parts: Record<ServiceName, ServicePart> = {
    SessionService: createSessionPart(options),
    EntryService: createEntryPart({ ...options, mailSent, mailbox }),
    SingleSignOnService: createSingleSignOnPart(options),
    PasskeyService: createPasskeyPart(options),
    OrganizationService: createOrganizationPart(options),
    OrganizationStatusService: createOrganizationStatusPart(options),
    AuditLogService: createAuditLogPart(options),
    ApiKeyService: createApiKeyPart(options),
    WebhookSecretService: createWebhookSecretPart(options),
    UsageService: createUsagePart(options),
  };
  return options.names.map((name) => parts[name]);
}
