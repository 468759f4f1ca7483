import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Logger } from "@vvs/logging";
import { type ApiKeySchema, ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import { RequestLogService } from "@vvs/proto/account/v1/request_log";
import { UsageService } from "@vvs/proto/account/v1/usage";
import { WebhookSecretService } from "@vvs/proto/account/v1/webhook_secrets";
import { type ServicePart, serveRpc } from "@vvs/rpc";
import { dispatcherPart } from "./fake-dispatcher.ts";
import { entityPart } from "./fake-entity.ts";
import { entryPart } from "./fake-entry.ts";
import { jobPart } from "./fake-jobs.ts";
import { memberMessage, organizationPart } from "./fake-members.ts";
import { monitorPart } from "./fake-monitor.ts";
import { notificationSettingsPart } from "./fake-notifications.ts";
import { fakePart, findIn } from "./fake-part.ts";
import { passkeyPart } from "./fake-passkeys.ts";
import { EMAIL, sessionPart } from "./fake-sessions.ts";
import { singleSignOnPart } from "./fake-single-sign-on.ts";
import { createFakeState, type FakeState } from "./fake-state.ts";
import { vendorListPart } from "./fake-vendor-list.ts";
import { verificationPart } from "./fake-verification.ts";

export const KEY_VALUE = "svc_test_Ab3x0000000000000000000000000000wxyz12";
export const SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

/** Simulates all services that the dashboard calls, over real gRPC. */
export async function startFakeServices(logger: Logger) {
  const state = createFakeState();
  state.members = [memberMessage({ userId: "usr_1", email: EMAIL, role: "owner" }), memberMessage()];
  const serve = (part: ServicePart, ...beside: ServicePart[]) =>
    serveRpc({ ...part, host: "127.0.0.1", port: 0, tls: undefined, logger, beside });
  const account = await serve(
    sessionPart(state),
    apiKeyPart(state),
    webhookSecretPart(state),
    fakePart(UsageService, state, { recorded: { getUsage: async () => ({ counts: state.usage }) } }),
    requestLogPart(state),
    auditLogPart(state),
    organizationPart(state),
    singleSignOnPart(state),
    passkeyPart(state),
    notificationSettingsPart(state),
    entryPart(state),
  );
  const dispatcher = await serve(dispatcherPart(state));
  const verification = await serve(verificationPart(state), jobPart(state));
  const entity = await serve(entityPart(state), vendorListPart(state));
  const monitor = await serve(monitorPart(state));
  return { state, account, dispatcher, verification, entity, monitor };
}

function apiKeyPart(state: FakeState): ServicePart {
  const find = (keyId: string) => findIn(state.keys, keyId);
  return fakePart(ApiKeyService, state, {
    recorded: {
      async createApiKey({ name, scopes }) {
        await state.gate;
        const key = keyOf({ name, scopes });
        state.keys.unshift(key);
        return { key, value: KEY_VALUE };
      },
      async rollApiKey({ keyId, overlapSeconds, expiresAt }) {
        const rolled = find(keyId);
        const now = new Date();
        rolled.rolledAt = timestampFromDate(now);
        if (overlapSeconds === 0) rolled.revokedAt = timestampFromDate(now);
        else rolled.expiresAt = timestampFromDate(new Date(now.getTime() + overlapSeconds * 1000));
        const key = keyOf({ id: "key_next", name: rolled.name, scopes: rolled.scopes, expiresAt });
        state.keys.unshift(key);
        return { key, value: KEY_VALUE, rolled };
      },
      revokeApiKey: async ({ keyId }) => ({
        key: Object.assign(find(keyId), { revokedAt: timestampFromDate(new Date()) }),
      }),
    },
    quiet: { listApiKeys: async () => ({ keys: state.keys }) },
  });
}

function webhookSecretPart(state: FakeState): ServicePart {
  const secret = (value: string) => ({
    secret: {
      value,
      createdAt: timestampFromDate(new Date("2026-11-20T08:00:00Z")),
      previousValidUntil: state.previousValidUntil && timestampFromDate(state.previousValidUntil),
    },
  });
  return fakePart(WebhookSecretService, state, {
    recorded: {
      getWebhookSecret: async ({ withoutValue }) => secret(withoutValue ? "" : SECRET),
      setWebhookSecret: async ({ value }) => secret(value),
      rotateWebhookSecret: async () => secret(SECRET),
      async endPreviousWebhookSecret() {
        state.previousValidUntil = undefined;
        return secret("");
      },
    },
  });
}

/** The position of the next page of a log. */
const nextOf = ({ hasOlder }: FakeState) =>
  hasOlder ? { createdAt: timestampFromDate(new Date("2026-11-20T08:00:00Z")), id: "a".repeat(24) } : undefined;

function requestLogPart(state: FakeState): ServicePart {
  return fakePart(RequestLogService, state, {
    recorded: {
      listRequests: async () => ({
        requests: state.requests,
        next: nextOf(state),
        operations: state.requests.map(({ operation }) => operation!),
        leftOut: state.requestsLeftOut,
        keptDays: 7,
        burst: 20_000,
        perMinute: 60,
      }),
    },
  });
}

function auditLogPart(state: FakeState): ServicePart {
  return fakePart(AuditLogService, state, {
    recorded: {
      appendAuditEntry: async () => ({}),
      listAuditEntries: async () => ({ entries: state.auditEntries, next: nextOf(state), keptDays: 2_557 }),
    },
  });
}

/** A key as account sends it. */
export function keyOf(changes: MessageInitShape<typeof ApiKeySchema> = {}): MessageInitShape<typeof ApiKeySchema> {
  return {
    id: "key_1",
    name: "Billing",
    start: "svc_test_Ab3x",
    lastFour: "yz12",
    scopes: ["entities:read"],
    createdAt: timestampFromDate(new Date("2026-11-20T08:00:00Z")),
    createdBy: "usr_1",
    ...changes,
  };
}
