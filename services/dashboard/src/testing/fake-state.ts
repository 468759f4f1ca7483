import type { MessageInitShape } from "@bufbuild/protobuf";
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

/** The data of the simulated services, and the calls that they received. */
export interface FakeState {
  /** Calls that change or reveal something, as JSON. */
  readonly calls: string[];
  /** Tokens of the current sessions. */
  readonly sessions: Set<string>;
  /** Tokens of sign-ins that wait for a code. */
  readonly secondSteps: Set<string>;
  /** Of the first sign-in: aborts when the dashboard gives it up. */
  readonly hangUp: PromiseWithResolvers<AbortSignal>;
  /** The user whom all sessions belong to. */
  userId: string;
  /** Of the one user. */
  role: string;
  /** Whether the user is an operator of the product. */
  isOperator: boolean;
  /** Whether the user has an authenticator app. */
  hasApp: boolean;
  /** When the user last entered the password. */
  authenticatedAt: Date;
  /** The user agent of each session. */
  userAgent: string;
  /** Of the one organization; undefined where account does not know approvals yet. */
  liveTinMatch: boolean | undefined;
  /** Of the one organization. */
  limitPerMinute: number;
  usage: MessageInitShape<typeof UsageCountSchema>[];
  /** Newest first. */
  requests: MessageInitShape<typeof LoggedRequestSchema>[];
  /** Number of requests that are not in the log. */
  requestsLeftOut: bigint;
  keys: MessageInitShape<typeof ApiKeySchema>[];
  /** Of the one user. */
  passkeys: MessageInitShape<typeof PasskeySchema>[];
  members: MessageInitShape<typeof MemberSchema>[];
  invitations: MessageInitShape<typeof InvitationSchema>[];
  /** Whether the invited address already has an account. */
  hasAccount: boolean;
  /** Newest first. */
  auditEntries: MessageInitShape<typeof AuditEntrySchema>[];
  deliveries: MessageInitShape<typeof DeliverySchema>[];
  endpoints: MessageInitShape<typeof EndpointSchema>[];
  /** Number of deliveries that a replay of failed ones includes. */
  failedCount: number;
  verifications: MessageInitShape<typeof VerificationSchema>[];
  /** Whether there is a page after the requested one. */
  hasOlder: boolean;
  evidence: MessageInitShape<typeof EvidenceSchema>[];
  /** Of every verification; empty where receipts are not configured. */
  receipt: string;
  /** A JSON Web Key Set. */
  receiptKeys: string;
  providers: MessageInitShape<typeof ProviderSchema>[];
  /** Over time. */
  providerHealth: MessageInitShape<typeof ProviderHealthSchema>[];
  /** Today. */
  providerUsage: MessageInitShape<typeof ProviderUsageSchema>[];
  samGovCalls: MessageInitShape<typeof GetSamGovCallsResponseSchema>;
  entities: MessageInitShape<typeof EntitySchema>[];
  /** The organization's list of vendors, in its order. */
  vendors: MessageInitShape<typeof VendorSchema>[];
  vendorCounts: MessageInitShape<typeof CountVendorsResponseSchema>;
  /** The answer of a look-up. */
  found: MessageInitShape<typeof LookUpResponseSchema>;
  /** Newest first. */
  snapshots: MessageInitShape<typeof SnapshotSchema>[];
  tinReplacements: MessageInitShape<typeof TinReplacementSchema>[];
  monitors: MessageInitShape<typeof MonitorSchema>[];
  /** Newest first. */
  events: MessageInitShape<typeof EventSchema>[];
  /** Of every monitor, newest first. */
  runs: MessageInitShape<typeof RunSchema>[];
  /** What scheduled checks made of newest runs. */
  confirmedRuns: MessageInitShape<typeof ConfirmedRunSchema>[];
  jobs: Exclude<MessageInitShape<typeof JobSchema>, { $typeName: string }>[];
  /** Of jobs that `resultsOf` does not name, by row. */
  jobResults: Exclude<MessageInitShape<typeof JobResultSchema>, { $typeName: string }>[];
  readonly resultsOf: Map<string, FakeState["jobResults"]>;
  previousValidUntil: Date | undefined;
  /** Whether the user's address is not confirmed yet. */
  unconfirmed: boolean;
  signUpOpen: boolean;
  mailSent: boolean;
  /** The texts of the emails in the local mailbox. */
  mails: string[];
  /** The error that a method throws instead of answering. */
  readonly failures: Map<string, ServiceError>;
  /** Awaited by SignIn, CreateApiKey, CreateMonitor and Verify before they answer. */
  gate: Promise<void>;
  /** Awaited by ListProviders before it answers. */
  slow: Promise<void>;
}

export function failIfAsked(state: FakeState, method: string): void {
  const failure = state.failures.get(method);
  if (failure) throw failure;
}
