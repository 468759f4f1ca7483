import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import {
  type EvidenceSchema,
  Mode,
  type VerificationSchema,
  VerificationService,
} from "@vvs/proto/verification/v1/verification";
import { ENTITY_ID } from "./fake-entity.ts";
import { fakePart, findIn } from "./fake-part.ts";
import type { FakeState, Fields } from "./fake-state.ts";

export const VERIFICATION_ID = "ver_01m7ygvppkenma4hm7yf5h5159";
/** Created now, as that of a verification of today. */
export const EVIDENCE_ID = newId("evd");

type Verification = Fields<typeof VerificationSchema>;

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
    payment: { doubts: [] },
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
export function verificationPart(state: FakeState) {
  return fakePart(VerificationService, state, {
    recorded: {
      async verify() {
        await state.gate;
        return { verification: verificationOf() };
      },
      async listVerifications({ page }) {
        const verifications = state.verifications.slice(0, page?.limit);
        const hasNext = state.hasOlder || verifications.length < state.verifications.length;
        return { verifications, next: hasNext ? { createdAt: at, id: verifications.at(-1)!.id! } : undefined };
      },
      async listProviders() {
        await state.slow;
        return { providers: state.providers };
      },
      getProviderUsage: async () => ({ providers: state.providerUsage }),
      getProviderHealth: async () => ({ providers: state.providerHealth }),
      getSamGovCalls: async () => state.samGovCalls,
      getReceiptKeys: async () => ({ jwks: state.receiptKeys }),
    },
    quiet: {
      getVerification: async ({ verificationId }) => ({
        verification: findIn(state.verifications, verificationId, "verification_not_found"),
      }),
      getEvidence: async ({ evidenceId }) => ({ evidence: findIn(state.evidence, evidenceId, "evidence_not_found") }),
      async getReceipt({ issuer }) {
        state.calls.push(`getReceipt ${issuer}`);
        if (state.receipt === "") throw new ServiceError("not_found");
        return { receipt: state.receipt };
      },
    },
  });
}
