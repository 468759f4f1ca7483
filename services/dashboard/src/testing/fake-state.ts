import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceError } from "@vvs/errors";
import type { ApiKeySchema } from "@vvs/proto/account/v1/api_keys";
import type { AuditEntrySchema } from "@vvs/proto/account/v1/audit_log";
import type { InvitationSchema } from "@vvs/proto/account/v1/invitations";
import type { MemberSchema } from "@vvs/proto/account/v1/members";
import type { PasskeySchema } from "@vvs/proto/account/v1/passkeys";
import type { LoggedRequestSchema } from "@vvs/proto/account/v1/request_log";
import type { UsageCountSchema } from "@vvs/proto/account/v1/usage";
import type {
  EntitySchema,
  LookUpResponseSchema,
  SnapshotSchema,
  TinReplacementSchema,
} from "@vvs/proto/entity/v1/entity";
import type { CountVendorsResponseSchema, VendorSchema } from "@vvs/proto/entity/v1/vendors";
import type { ConfirmedRunSchema, EventSchema, MonitorSchema, RunSchema } from "@vvs/proto/monitor/v1/monitor";
import type { JobResultSchema, JobSchema } from "@vvs/proto/verification/v1/jobs";
import type { ProviderHealthSchema } from "@vvs/proto/verification/v1/provider_health";
import type { ProviderUsageSchema } from "@vvs/proto/verification/v1/provider_usage";
import type { GetSamGovCallsResponseSchema } from "@vvs/proto/verification/v1/sam_gov_calls";
import type { EvidenceSchema, ProviderSchema, VerificationSchema } from "@vvs/proto/verification/v1/verification";
import type { DeliverySchema, EndpointSchema } from "@vvs/proto/webhook/v1/webhook";

/** The fields of a message, without the message itself, whose parts could not be plain objects. */
export type Fields<S extends DescMessage> = Exclude<MessageInitShape<S>, { $typeName: string }>;

/** The data of the simulated services, and the calls that they received. */
export type FakeState = ReturnType<typeof createFakeState>;

/** Messages, none at first. */
const none = <S extends DescMessage>(): MessageInitShape<S>[] => [];

export function createFakeState() {
  return {
    /** Calls that change or reveal something, as JSON. */
    calls: [] as string[],
    /** Tokens of the current sessions. */
    sessions: new Set<string>(),
    /** Tokens of sign-ins that wait for a code. */
    secondSteps: new Set<string>(),
    /** Of the first sign-in: aborts when the dashboard gives it up. */
    hangUp: Promise.withResolvers<AbortSignal>(),
    /** The user whom all sessions belong to. */
    userId: "usr_1",
    /** Of the one user. */
    role: "owner",
    /** Whether the user is an operator of the product. */
    isOperator: false,
    /** Whether the user has an authenticator app. */
    hasApp: false,
    /** Of the identity provider that the user signed in with; empty with a password. */
    identityProviderId: "",
    /** When the user last confirmed their identity. */
    authenticatedAt: new Date(),
    /** The user agent of each session. */
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
    /** Of the one organization. */
    liveTinMatch: true,
    limitPerMinute: 500,
    usage: none<typeof UsageCountSchema>(),
    /** Newest first. */
    requests: none<typeof LoggedRequestSchema>(),
    /** Number of requests that are not in the log. */
    requestsLeftOut: 0n,
    keys: none<typeof ApiKeySchema>(),
    /** Of the one user. */
    passkeys: none<typeof PasskeySchema>(),
    members: none<typeof MemberSchema>(),
    invitations: none<typeof InvitationSchema>(),
    /** Whether the invited address already has an account. */
    hasAccount: false,
    /** Newest first. */
    auditEntries: none<typeof AuditEntrySchema>(),
    deliveries: none<typeof DeliverySchema>(),
    endpoints: none<typeof EndpointSchema>(),
    /** Number of deliveries that a replay of failed ones includes. */
    failedCount: 0,
    verifications: none<typeof VerificationSchema>(),
    /** Whether there is a page after the requested one. */
    hasOlder: false,
    evidence: none<typeof EvidenceSchema>(),
    /** Of every verification; empty where receipts are not configured. */
    receipt: "",
    /** A JSON Web Key Set. */
    receiptKeys: '{"keys":[]}',
    providers: none<typeof ProviderSchema>(),
    /** Over time. */
    providerHealth: none<typeof ProviderHealthSchema>(),
    /** Today. */
    providerUsage: none<typeof ProviderUsageSchema>(),
    samGovCalls: {} as MessageInitShape<typeof GetSamGovCallsResponseSchema>,
    entities: none<typeof EntitySchema>(),
    /** The organization's list of vendors, in its order. */
    vendors: none<typeof VendorSchema>(),
    vendorCounts: {} as MessageInitShape<typeof CountVendorsResponseSchema>,
    /** The answer of a look-up. */
    found: {} as MessageInitShape<typeof LookUpResponseSchema>,
    /** Newest first. */
    snapshots: none<typeof SnapshotSchema>(),
    /** Of the TIN of every entity; empty: not known. */
    tinFingerprint: new Uint8Array(),
    tinReplacements: none<typeof TinReplacementSchema>(),
    monitors: none<typeof MonitorSchema>(),
    /** Newest first. */
    events: none<typeof EventSchema>(),
    /** Of every monitor, newest first. */
    runs: none<typeof RunSchema>(),
    /** What scheduled checks made of newest runs. */
    confirmedRuns: none<typeof ConfirmedRunSchema>(),
    jobs: [] as Fields<typeof JobSchema>[],
    /** Of jobs that `resultsOf` does not name, by row. */
    jobResults: [] as Fields<typeof JobResultSchema>[],
    resultsOf: new Map<string, Fields<typeof JobResultSchema>[]>(),
    previousValidUntil: undefined as Date | undefined,
    /** Whether the user's address is not confirmed yet. */
    unconfirmed: false,
    signUpOpen: true,
    mailSent: true,
    /** The texts of the emails in the local mailbox. */
    mails: [] as string[],
    /** The error that a method throws instead of answering. */
    failures: new Map<string, ServiceError>(),
    /** Whether every service but sessions is unavailable. */
    isDown: false,
    /** Awaited by SignIn, CreateApiKey, CreateMonitor and Verify before they answer. */
    gate: Promise.resolve(),
    /** Awaited by ListProviders before it answers. */
    slow: Promise.resolve(),
  };
}

export function failIfAsked(state: FakeState, method: string): void {
  const failure = state.failures.get(method);
  if (failure) throw failure;
}
