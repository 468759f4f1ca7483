import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceError } from "@vvs/errors";
import type { ApiKeySchema } from "@vvs/proto/account/v1/api_keys";
import type { AuditEntrySchema } from "@vvs/proto/account/v1/audit_log";
import type { InvitationSchema } from "@vvs/proto/account/v1/invitations";
import type { MemberSchema } from "@vvs/proto/account/v1/members";
import type { PasskeySchema } from "@vvs/proto/account/v1/passkeys";
import type { UsageCountSchema } from "@vvs/proto/account/v1/usage";
import type { EntitySchema, LookUpResponseSchema, SnapshotSchema } from "@vvs/proto/entity/v1/entity";
import type { EventSchema, MonitorSchema } from "@vvs/proto/monitor/v1/monitor";
import type { ProviderHealthSchema } from "@vvs/proto/verification/v1/provider_health";
import type { EvidenceSchema, ProviderSchema, VerificationSchema } from "@vvs/proto/verification/v1/verification";
import type { DeliverySchema, EndpointSchema } from "@vvs/proto/webhook/v1/webhook";

/** What the played services hold, and what was asked of them. */
export interface FakeState {
  /** Calls that change or reveal something, as JSON. */
  readonly calls: string[];
  /** Live session tokens. */
  readonly sessions: Set<string>;
  /** Of the one user. */
  role: string;
  /** Has the user an authenticator app? */
  hasApp: boolean;
  /** When they last gave their password. */
  authenticatedAt: Date;
  /** What the browser of each session calls itself. */
  userAgent: string;
  usage: MessageInitShape<typeof UsageCountSchema>[];
  keys: MessageInitShape<typeof ApiKeySchema>[];
  /** Of the one user. */
  passkeys: MessageInitShape<typeof PasskeySchema>[];
  members: MessageInitShape<typeof MemberSchema>[];
  invitations: MessageInitShape<typeof InvitationSchema>[];
  /** Has the address that is invited an account already? */
  hasAccount: boolean;
  /** Newest first. */
  auditEntries: MessageInitShape<typeof AuditEntrySchema>[];
  deliveries: MessageInitShape<typeof DeliverySchema>[];
  endpoints: MessageInitShape<typeof EndpointSchema>[];
  /** How many deliveries a replay of failed ones would take in. */
  failedCount: number;
  verifications: MessageInitShape<typeof VerificationSchema>[];
  /** Is there a page after the one that is asked for? */
  hasOlder: boolean;
  evidence: MessageInitShape<typeof EvidenceSchema>[];
  providers: MessageInitShape<typeof ProviderSchema>[];
  /** Over time. */
  providerHealth: MessageInitShape<typeof ProviderHealthSchema>[];
  entities: MessageInitShape<typeof EntitySchema>[];
  /** What a look-up answers. */
  found: MessageInitShape<typeof LookUpResponseSchema>;
  /** Newest first. */
  snapshots: MessageInitShape<typeof SnapshotSchema>[];
  monitors: MessageInitShape<typeof MonitorSchema>[];
  /** Newest first. */
  events: MessageInitShape<typeof EventSchema>[];
  previousValidUntil: Date | undefined;
  /** Is the one user's address not confirmed yet? */
  unconfirmed: boolean;
  signUpOpen: boolean;
  mailSent: boolean;
  /** The texts of the mails in the local mailbox. */
  mails: string[];
  /** What a method throws instead of answering. */
  readonly failures: Map<string, ServiceError>;
  /** Awaited by CreateApiKey, CreateMonitor and Verify before they answer. */
  gate: Promise<void>;
  /** Awaited by ListProviders before it answers. */
  slow: Promise<void>;
}

export function failIfAsked(state: FakeState, method: string): void {
  const failure = state.failures.get(method);
  if (failure) throw failure;
}
