import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ApiKeySchema } from "@vvs/proto/account/v1/api_keys";
import type { GetOrganizationResponseSchema } from "@vvs/proto/account/v1/organization";
import type {
  SessionCaller as SessionCallerMessage,
  SessionSchema,
  SessionSummarySchema,
} from "@vvs/proto/account/v1/sessions";
import type { WebhookSecretSchema } from "@vvs/proto/account/v1/webhook_secrets";
import type { Environment } from "@vvs/tenant";
import { MAX_ACTIVE_KEYS } from "../api-keys/api-keys.ts";
import { activeMonitors, createdEntities, limitPerMinute } from "../model/plans.ts";
import type { BegunSession } from "../sessions/begin-session.ts";
import type { SignedIn } from "../sessions/live-sessions.ts";
import type { OwnSession, SessionCaller } from "../sessions/own-sessions.ts";
import type { ApiKeyDocument, OrganizationDocument } from "../store.ts";
import type { WebhookSecret } from "../webhook-secrets/webhook-secrets.ts";

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
    createdEntities: createdEntities(organization, environment),
    activeKeys: MAX_ACTIVE_KEYS,
    liveTinMatch: organization.live_tin_match ?? false,
    createdAt: timestampFromDate(organization.created_at),
  };
}

/** A key as users see it, without its hash. */
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

/** A session that has begun, with its token. */
export function begunMessage({ token, session, deviceToken }: BegunSession) {
  return { sessionToken: token, session: sessionMessage(session), deviceToken };
}

/** Returns the signed-in user who manages their own account. */
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
