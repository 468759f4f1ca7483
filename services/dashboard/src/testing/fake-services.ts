import { randomUUID } from "node:crypto";
import { type DescService, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import {
  type ApiKeySchema,
  ApiKeyService,
  CreateApiKeyRequestSchema,
  RevokeApiKeyRequestSchema,
  RollApiKeyRequestSchema,
} from "@vvs/proto/account/v1/api_keys";
import {
  AppendAuditEntryRequestSchema,
  AuditLogService,
  ListAuditEntriesRequestSchema,
} from "@vvs/proto/account/v1/audit_log";
import { ListRequestsRequestSchema, RequestLogService } from "@vvs/proto/account/v1/request_log";
import { type SessionSchema, SessionService } from "@vvs/proto/account/v1/sessions";
import { GetUsageRequestSchema, UsageService } from "@vvs/proto/account/v1/usage";
import {
  EndPreviousWebhookSecretRequestSchema,
  GetWebhookSecretRequestSchema,
  RotateWebhookSecretRequestSchema,
  SetWebhookSecretRequestSchema,
  WebhookSecretService,
} from "@vvs/proto/account/v1/webhook_secrets";
import { type Handlers, onlyFor, type RpcServer, type ServicePart, serveRpc } from "@vvs/rpc";
import { dispatcherService } from "./fake-dispatcher.ts";
import { entityService } from "./fake-entity.ts";
import { entryPart } from "./fake-entry.ts";
import { jobPart } from "./fake-jobs.ts";
import { memberMessage, organizationService } from "./fake-members.ts";
import { monitorService } from "./fake-monitor.ts";
import { notificationSettingsPart } from "./fake-notifications.ts";
import { passkeyPart } from "./fake-passkeys.ts";
import { sessionHandlers } from "./fake-sessions.ts";
import { singleSignOnPart } from "./fake-single-sign-on.ts";
import { type FakeState, failIfAsked } from "./fake-state.ts";
import { vendorListPart } from "./fake-vendor-list.ts";
import { verificationService } from "./fake-verification.ts";

export const EMAIL = "ada@acme.example";
export const PASSWORD = "correct horse battery staple";
export const KEY_VALUE = "svc_test_Ab3x0000000000000000000000000000wxyz12";
export const SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

export const DEVICE_TOKEN = "device-of-the-one-user";

const MINUTE_MS = 60_000;

export interface FakeServices {
  readonly state: FakeState;
  readonly account: RpcServer;
  readonly dispatcher: RpcServer;
  readonly verification: RpcServer;
  readonly entity: RpcServer;
  readonly monitor: RpcServer;
}

/** Simulates all services that the dashboard calls, over real gRPC. */
export async function startFakeServices(logger: Logger): Promise<FakeServices> {
  const state: FakeState = {
    calls: [],
    sessions: new Set(),
    secondSteps: new Set(),
    hangUp: Promise.withResolvers(),
    userId: "usr_1",
    role: "owner",
    isOperator: false,
    hasApp: false,
    authenticatedAt: new Date(),
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
    liveTinMatch: true,
    limitPerMinute: 500,
    usage: [],
    requests: [],
    requestsLeftOut: 0n,
    keys: [],
    passkeys: [],
    members: [memberMessage({ userId: "usr_1", email: EMAIL, role: "owner" }), memberMessage()],
    invitations: [],
    hasAccount: false,
    auditEntries: [],
    deliveries: [],
    endpoints: [],
    failedCount: 0,
    verifications: [],
    hasOlder: false,
    evidence: [],
    providers: [],
    providerHealth: [],
    providerUsage: [],
    samGovCalls: {},
    receipt: "",
    receiptKeys: '{"keys":[]}',
    entities: [],
    vendors: [],
    vendorCounts: { registrationEnded: 0 },
    found: {},
    snapshots: [],
    tinReplacements: [],
    monitors: [],
    events: [],
    runs: [],
    confirmedRuns: [],
    jobs: [],
    jobResults: [],
    resultsOf: new Map(),
    previousValidUntil: undefined,
    unconfirmed: false,
    signUpOpen: true,
    mailSent: true,
    mails: [],
    failures: new Map(),
    gate: Promise.resolve(),
    slow: Promise.resolve(),
  };
  const shared = { host: "127.0.0.1", port: 0, tls: undefined, logger };
  const account = await serveRpc({
    ...shared,
    ...sessionPart(state),
    beside: [
      apiKeyPart(state),
      webhookSecretPart(state),
      usagePart(state),
      requestLogPart(state),
      auditLogPart(state),
      organizationService(state),
      singleSignOnPart(state),
      passkeyPart(state, { session: () => sessionOf(state) }),
      notificationSettingsPart(state),
      entryPart(state, { email: EMAIL, session: () => sessionOf(state) }),
    ],
  });
  const dispatcher = await serveRpc({ ...shared, ...dispatcherService(state) });
  const verification = await serveRpc({ ...shared, ...verificationService(state), beside: [jobPart(state)] });
  const entity = await serveRpc({ ...shared, ...entityService(state), beside: [vendorListPart(state)] });
  const monitor = await serveRpc({ ...shared, ...monitorService(state) });
  return { state, account, dispatcher, verification, entity, monitor };
}

function sessionOf(state: FakeState): MessageInitShape<typeof SessionSchema> {
  return {
    userId: state.userId,
    email: EMAIL,
    organizationId: "org_1",
    organizationName: "Acme & Sons",
    role: state.role,
    isOperator: state.isOperator,
    authenticatedAt: timestampFromDate(state.authenticatedAt),
    expiresAt: timestampFromDate(new Date(Date.now() + 60 * MINUTE_MS)),
  };
}

function note(state: FakeState, method: string, json: string): void {
  failIfAsked(state, method);
  state.calls.push(`${method} ${json}`);
}

/** Serves a simulated service; methods without a handler fail. */
function partOf<S extends DescService>(service: S, handlers: Partial<Handlers<S>>): ServicePart {
  const unused = async () => Promise.reject(new ServiceError("internal_error"));
  const ofAll = <T>(value: T) => Object.fromEntries(service.methods.map(({ localName }) => [localName, value]));
  return {
    service,
    handlers: { ...ofAll(unused), ...handlers },
    callers: onlyFor(service, "dashboard"),
  } as unknown as ServicePart;
}

function sessionPart(state: FakeState): ServicePart {
  return partOf(SessionService, {
    async signIn({ email, password, clientAddress, deviceToken }, { signal }) {
      note(state, "signIn", JSON.stringify({ email, clientAddress, ...(deviceToken && { deviceToken }) }));
      state.hangUp.resolve(signal);
      await state.gate;
      if (email !== EMAIL || password !== PASSWORD) throw new ServiceError("unauthorized");
      if (state.unconfirmed) return { emailUnconfirmed: true };
      if (state.hasApp) {
        const secondStepToken = `second-step-${randomUUID()}`;
        state.secondSteps.add(secondStepToken);
        return { secondStepToken };
      }
      const sessionToken = `token-${randomUUID()}`;
      state.sessions.add(sessionToken);
      return { sessionToken, session: sessionOf(state), deviceToken: DEVICE_TOKEN };
    },
    async getSession({ sessionToken }) {
      failIfAsked(state, "getSession");
      if (!state.sessions.has(sessionToken)) throw new ServiceError("unauthorized");
      return { session: sessionOf(state) };
    },
    async signOut({ sessionToken }) {
      note(state, "signOut", "");
      state.sessions.delete(sessionToken);
      return {};
    },
    ...sessionHandlers(state, { password: PASSWORD, session: () => sessionOf(state) }),
  });
}

function apiKeyPart(state: FakeState): ServicePart {
  return partOf(ApiKeyService, {
    async listApiKeys() {
      failIfAsked(state, "listApiKeys");
      return { keys: state.keys };
    },
    async createApiKey(request) {
      note(state, "createApiKey", toJsonString(CreateApiKeyRequestSchema, request));
      await state.gate;
      const key = keyOf({ name: request.name, scopes: request.scopes });
      state.keys.unshift(key);
      return { key, value: KEY_VALUE };
    },
    async rollApiKey(request) {
      note(state, "rollApiKey", toJsonString(RollApiKeyRequestSchema, request));
      const rolled = state.keys.find(({ id }) => id === request.keyId);
      if (!rolled) throw new ServiceError("not_found", { message: "There is no such API key." });
      const now = new Date();
      rolled.rolledAt = timestampFromDate(now);
      if (request.overlapSeconds === 0) rolled.revokedAt = timestampFromDate(now);
      else rolled.expiresAt = timestampFromDate(new Date(now.getTime() + request.overlapSeconds * 1000));
      const key = keyOf({ id: "key_next", name: rolled.name, scopes: rolled.scopes, expiresAt: request.expiresAt });
      state.keys.unshift(key);
      return { key, value: KEY_VALUE, rolled };
    },
    async revokeApiKey(request) {
      note(state, "revokeApiKey", toJsonString(RevokeApiKeyRequestSchema, request));
      const key = state.keys.find(({ id }) => id === request.keyId);
      if (!key) throw new ServiceError("not_found", { message: "There is no such API key." });
      key.revokedAt = timestampFromDate(new Date());
      return { key };
    },
  });
}

function webhookSecretPart(state: FakeState): ServicePart {
  const secret = (value: string) => ({
    value,
    createdAt: timestampFromDate(new Date("2026-11-20T08:00:00Z")),
    previousValidUntil: state.previousValidUntil && timestampFromDate(state.previousValidUntil),
  });
  return partOf(WebhookSecretService, {
    async getWebhookSecret(request) {
      note(state, "getWebhookSecret", toJsonString(GetWebhookSecretRequestSchema, request));
      return { secret: secret(request.withoutValue ? "" : SECRET) };
    },
    async setWebhookSecret(request) {
      note(state, "setWebhookSecret", toJsonString(SetWebhookSecretRequestSchema, request));
      return { secret: secret(request.value) };
    },
    async rotateWebhookSecret(request) {
      note(state, "rotateWebhookSecret", toJsonString(RotateWebhookSecretRequestSchema, request));
      return { secret: secret(SECRET) };
    },
    async endPreviousWebhookSecret(request) {
      note(state, "endPreviousWebhookSecret", toJsonString(EndPreviousWebhookSecretRequestSchema, request));
      state.previousValidUntil = undefined;
      return { secret: secret("") };
    },
  });
}

function usagePart(state: FakeState): ServicePart {
  return partOf(UsageService, {
    async getUsage(request) {
      note(state, "getUsage", toJsonString(GetUsageRequestSchema, request));
      return { counts: state.usage };
    },
  });
}

function requestLogPart(state: FakeState): ServicePart {
  return partOf(RequestLogService, {
    async listRequests(request) {
      note(state, "listRequests", toJsonString(ListRequestsRequestSchema, request));
      const next = { createdAt: timestampFromDate(new Date("2026-11-20T08:00:00Z")), id: "a".repeat(24) };
      return {
        requests: state.requests,
        next: state.hasOlder ? next : undefined,
        operations: state.requests.map(({ operation }) => operation!),
        leftOut: state.requestsLeftOut,
        keptDays: 7,
        burst: 20_000,
        perMinute: 60,
      };
    },
  });
}

function auditLogPart(state: FakeState): ServicePart {
  return partOf(AuditLogService, {
    async appendAuditEntry(request) {
      note(state, "appendAuditEntry", toJsonString(AppendAuditEntryRequestSchema, request));
      return {};
    },
    async listAuditEntries(request) {
      note(state, "listAuditEntries", toJsonString(ListAuditEntriesRequestSchema, request));
      const next = { createdAt: timestampFromDate(new Date("2026-11-20T08:00:00Z")), id: "a".repeat(24) };
      return { entries: state.auditEntries, next: state.hasOlder ? next : undefined, keptDays: 2_557 };
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
