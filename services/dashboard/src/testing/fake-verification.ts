import { type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { GetProviderHealthRequestSchema } from "@vvs/proto/verification/v1/provider_health";
import { GetProviderUsageRequestSchema } from "@vvs/proto/verification/v1/provider_usage";
import {
  type EvidenceSchema,
  ListProvidersRequestSchema,
  ListVerificationsRequestSchema,
  Mode,
  type VerificationSchema,
  VerificationService,
  VerifyRequestSchema,
} from "@vvs/proto/verification/v1/verification";
import { type Handlers, onlyFor } from "@vvs/rpc";
import { ENTITY_ID } from "./fake-entity.ts";
import { type FakeState, failIfAsked } from "./fake-state.ts";

export const VERIFICATION_ID = "ver_01m7ygvppkenma4hm7yf5h5159";
/** Created now, as that of a verification of today. */
export const EVIDENCE_ID = newId("evd");

type Verification = MessageInitShape<typeof VerificationSchema>;

const at = timestampFromDate(new Date("2026-11-21T07:41:46.067Z"));

/** A verification as the service sends it. */
export function verificationOf(changes: Verification = {}): Verification {
  return {
    id: VERIFICATION_ID,
    entityId: ENTITY_ID,
    overallResult: CheckStatus.PASS,
    results: [
      {
        checkType: CheckType.SAM_REGISTRATION,
        status: CheckStatus.PASS,
        confidence: 1,
        origin: "sam_gov_extract",
        dataFreshnessSeconds: 200_000n,
        evidenceId: EVIDENCE_ID,
      },
    ],
    createdAt: at,
    actor: "usr_1",
    mode: Mode.REALTIME,
    ...changes,
  };
}

/** Evidence as the service sends it; its hash is that of `{"a":1}`. */
export function evidenceOf(
  changes: MessageInitShape<typeof EvidenceSchema> = {},
): MessageInitShape<typeof EvidenceSchema> {
  return {
    id: EVIDENCE_ID,
    verificationId: VERIFICATION_ID,
    checkType: CheckType.SAM_REGISTRATION,
    origin: "sandbox_secondary",
    content: '{"a":1}',
    contentType: "application/json",
    sha256: "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862",
    attempts: [
      { provider: "sandbox_primary", outcome: "throw", reason: "http_503", startedAt: at, durationMs: 12n },
      { provider: "sandbox_secondary", outcome: "pass", startedAt: at, durationMs: 34n },
    ],
    createdAt: at,
    ...changes,
  };
}

/** Simulates the verification service. */
export function verificationService(state: FakeState) {
  return {
    service: VerificationService,
    handlers: verificationHandlers(state),
    callers: onlyFor(VerificationService, "dashboard"),
  };
}

function verificationHandlers(state: FakeState): Handlers<typeof VerificationService> {
  const note = (method: string, json: string) => {
    failIfAsked(state, method);
    state.calls.push(`${method} ${json}`);
  };
  return {
    async verify(request) {
      note("verify", toJsonString(VerifyRequestSchema, request));
      await state.gate;
      return { verification: verificationOf() };
    },
    async getVerification({ verificationId }) {
      failIfAsked(state, "getVerification");
      const verification = state.verifications.find(({ id }) => id === verificationId);
      if (!verification) throw new ServiceError("verification_not_found");
      return { verification };
    },
    async listVerifications(request) {
      note("listVerifications", toJsonString(ListVerificationsRequestSchema, request));
      const verifications = state.verifications.slice(0, request.page?.limit);
      const last = verifications.at(-1);
      return {
        verifications,
        next:
          state.hasOlder || verifications.length < state.verifications.length
            ? { createdAt: at, id: last!.id! }
            : undefined,
      };
    },
    async getEvidence({ evidenceId }) {
      failIfAsked(state, "getEvidence");
      const evidence = state.evidence.find(({ id }) => id === evidenceId);
      if (!evidence) throw new ServiceError("evidence_not_found");
      return { evidence };
    },
    async listProviders(request) {
      note("listProviders", toJsonString(ListProvidersRequestSchema, request));
      await state.slow;
      return { providers: state.providers };
    },
    async getProviderUsage(request) {
      note("getProviderUsage", toJsonString(GetProviderUsageRequestSchema, request));
      return { providers: state.providerUsage };
    },
    async getProviderHealth(request) {
      note("getProviderHealth", toJsonString(GetProviderHealthRequestSchema, request));
      return { providers: state.providerHealth };
    },
    async getSamGovCalls() {
      note("getSamGovCalls", "{}");
      return state.samGovCalls;
    },
    async getReceipt({ issuer }) {
      note("getReceipt", issuer);
      if (state.receipt === "") throw new ServiceError("not_found");
      return { receipt: state.receipt };
    },
    async getReceiptKeys() {
      note("getReceiptKeys", "{}");
      return { jwks: state.receiptKeys };
    },
    judgeRuns: async () => ({}),
  };
}
