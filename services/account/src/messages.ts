import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ApiKeyRecordSchema, ApiKeySchema, WatchApiKeysResponseSchema } from "@vvs/proto/account/v1/api_keys";
import type { GetOrganizationResponseSchema } from "@vvs/proto/account/v1/organization";
import type {
  SessionCaller as SessionCallerMessage,
  SessionSchema,
  SessionSummarySchema,
} from "@vvs/proto/account/v1/sessions";
import type { WebhookSecretSchema } from "@vvs/proto/account/v1/webhook_secrets";
import { type Environment, toProtoTenant } from "@vvs/tenant";
import { MAX_ACTIVE_KEYS } from "./api-keys/api-keys.ts";
import type { FeedStep } from "./api-keys/key-feed.ts";
import type { KeyRecord } from "./api-keys/key-records.ts";
import { activeMonitors, limitPerMinute } from "./organizations/plans.ts";
import type { SignedIn } from "./sessions/live-sessions.ts";
import type { OwnSession, SessionCaller } from "./sessions/own-sessions.ts";

import type { ApiKeyDocument, OrganizationDocument } from "./store.ts";
import type { WebhookSecret } from "./webhook-secrets/webhook-secret-store.ts";

/** A key record as gateways get it. */
export function keyRecordMessage(record: KeyRecord): MessageInitShape<typeof ApiKeyRecordSchema> {
  return {
    id: record.id,
    hash: record.hash,
    pepperId: record.pepperId,
    tenant: toProtoTenant(record.tenant),
    scopes: [...record.scopes],
    expiresAt: record.expiresAt && timestampFromDate(record.expiresAt),
    revokedAt: record.revokedAt && timestampFromDate(record.revokedAt),
    limitPerMinute: record.limitPerMinute,
    activeMonitors: record.activeMonitors,
    organizationSuspended: record.organizationSuspended,
  };
}

/** An organization with what its plan allows in an environment. */
export function organizationMessage(
  organization: OrganizationDocument,
  environment: Environment,
): MessageInitShape<typeof GetOrganizationResponseSchema> {
  return {
    id: organization._id,
    name: organization.name,
    plan: organization.plan,
    limitPerMinute: limitPerMinute(organization),
    activeMonitors: activeMonitors(organization, environment),
    activeKeys: MAX_ACTIVE_KEYS,
    createdAt: timestampFromDate(organization.created_at),
  };
}

/** A step of a watch as gateways get it. */
export function watchMessage(step: FeedStep): MessageInitShape<typeof WatchApiKeysResponseSchema> {
  switch (step.kind) {
    case "key":
      return { step: { case: "key", value: keyRecordMessage(step.record) } };
    case "snapshot_done":
      return { step: { case: "snapshotDone", value: {} } };
    case "heartbeat":
      return { step: { case: "heartbeat", value: {} } };
  }
}

/** A key as people see it: never its hash. */
export function apiKeyMessage(
  key: ApiKeyDocument,
  { lastUsedAt, createdByEmail }: { lastUsedAt?: Date; createdByEmail?: string } = {},
): MessageInitShape<typeof ApiKeySchema> {
  return {
    id: key._id,
    name: key.name,
    start: key.start,
    lastFour: key.last_four,
    scopes: [...key.scopes],
    createdAt: timestampFromDate(key.created_at),
    createdBy: key.created_by,
    expiresAt: key.expires_at && timestampFromDate(key.expires_at),
    revokedAt: key.revoked_at && timestampFromDate(key.revoked_at),
    lastUsedAt: lastUsedAt && timestampFromDate(lastUsedAt),
    createdByEmail,
    rolledAt: key.rolled_at && timestampFromDate(key.rolled_at),
    rolledTo: key.rolled_to,
  };
}

export function sessionMessage(session: SignedIn): MessageInitShape<typeof SessionSchema> {
  return {
    ...session,
    expiresAt: timestampFromDate(session.expiresAt),
    authenticatedAt: timestampFromDate(session.authenticatedAt),
    identityProviderId: session.identityProviderId ?? "",
  };
}

/** Who acts on their own account. */
export function sessionCallerOf(message: SessionCallerMessage | undefined): SessionCaller {
  const { sessionToken = "", clientAddress = "", userAgent, requestId } = message ?? {};
  return { token: sessionToken, clientAddress, userAgent, requestId };
}

/** A session as its user sees it. */
export function sessionSummaryMessage(session: OwnSession): MessageInitShape<typeof SessionSummarySchema> {
  return {
    ...session,
    beganAt: timestampFromDate(session.beganAt),
    lastUsedAt: timestampFromDate(session.lastUsedAt),
  };
}

export function webhookSecretMessage(secret: WebhookSecret): MessageInitShape<typeof WebhookSecretSchema> {
  return {
    value: secret.value,
    createdAt: timestampFromDate(secret.createdAt),
    previousValidUntil: secret.previousValidUntil && timestampFromDate(secret.previousValidUntil),
  };
}
