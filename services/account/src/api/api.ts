import type { ServicePart } from "@vvs/rpc";
import type { KeyFeed } from "../api-keys/key-feed.ts";
import type { KeysDomain } from "../domain.ts";
import type { Mailing } from "../mailing.ts";
import { createApiKeyPart } from "./api-key-api.ts";
import { createAuditLogPart } from "./audit-log-api.ts";
import { createEntryPart } from "./entry-api.ts";
import { createNotificationPart, createNotificationSettingsPart } from "./notification-api.ts";
import { createOrganizationPart } from "./organization-api.ts";
import { createOrganizationStatusPart } from "./organization-status-api.ts";
import { createPasskeyPart } from "./passkey-api.ts";
import type { RecordedPeople } from "./recorded.ts";
import { createRequestLogPart } from "./request-log-api.ts";
import { createSessionPart } from "./session-api.ts";
import { createSingleSignOnPart } from "./single-sign-on-api.ts";
import { createUsagePart } from "./usage-api.ts";
import { createWebhookSecretPart } from "./webhook-secret-api.ts";

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
    createNotificationPart(options),
  ];
}

/** Returns the gRPC services of the people part, which only the dashboard calls. */
export function peopleServices(
  options: RecordedPeople & { mailing: Pick<Mailing, "isConfigured" | "mailbox">; signUpOpen: boolean },
): ServicePart[] {
  const { isConfigured: mailSent, mailbox } = options.mailing;
  return [
    createSessionPart(options),
    createEntryPart({ ...options, mailSent, mailbox }),
    createSingleSignOnPart(options),
    createPasskeyPart(options),
    createOrganizationPart(options),
    createNotificationSettingsPart(options),
  ];
}
