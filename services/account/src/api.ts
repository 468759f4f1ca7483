import type { Logger } from "@vvs/logging";
import type { ServicePart } from "@vvs/rpc";
import { createApiKeyPart } from "./api-keys/api-key-api.ts";
import type { KeyFeed } from "./api-keys/key-feed.ts";
import { createAuditLogPart } from "./audit-log/audit-log-api.ts";
import type { KeysDomain, PeopleDomain } from "./domain.ts";
import type { Mailing } from "./mail/start.ts";
import type { AccountMetrics } from "./metrics.ts";
import { createOrganizationPart } from "./organizations/organization-api.ts";
import { createOrganizationStatusPart } from "./organizations/organization-status-api.ts";
import { createPasskeyPart } from "./passkeys/passkey-api.ts";
import { createRequestLogPart } from "./request-log/request-log-api.ts";
import { createEntryPart } from "./sign-in/entry-api.ts";
import { createSessionPart } from "./sign-in/session-api.ts";
import { createSingleSignOnPart } from "./sso/single-sign-on-api.ts";
import { createUsagePart } from "./usage/usage-api.ts";
import { createWebhookSecretPart } from "./webhook-secrets/webhook-secret-api.ts";

/**
 * Returns the gRPC services of the keys part: everything that services other than the dashboard call. An RPC that one of
 * them needs belongs here.
 */
export function keysServices(options: { domain: KeysDomain; keyFeed: KeyFeed }): ServicePart[] {
  return [
    createApiKeyPart(options),
    createWebhookSecretPart(options),
    createUsagePart(options),
    createRequestLogPart(options),
    createAuditLogPart(options),
    createOrganizationStatusPart(options),
  ];
}

/** Returns the gRPC services of the people part, which only the dashboard calls. */
export function peopleServices(options: {
  domain: PeopleDomain;
  mailing: Pick<Mailing, "isConfigured" | "mailbox">;
  signUpOpen: boolean;
  metrics: AccountMetrics;
  logger: Logger;
}): ServicePart[] {
  const { isConfigured: mailSent, mailbox } = options.mailing;
  return [
    createSessionPart(options),
    createEntryPart({ ...options, mailSent, mailbox }),
    createSingleSignOnPart(options),
    createPasskeyPart(options),
    createOrganizationPart(options),
  ];
}
