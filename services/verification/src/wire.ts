import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { CheckType, CheckStatus as ProtoCheckStatus } from "@vvs/proto/common/v1/common";
import { VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import {
  type EvidenceSchema,
  Mode as ProtoMode,
  type VerificationSchema,
} from "@vvs/proto/verification/v1/verification";
import { type Tenant, toProtoTenant } from "@vvs/tenant";
import type { Check, CheckStatus, Mode } from "./checks.ts";
import type { Conclusion } from "./conclusion.ts";
import type { EvidenceWithContent, VerificationDocument } from "./documents.ts";
import type { VerificationRecords } from "./records.ts";

const CHECK_TYPES: Readonly<Record<Check, CheckType>> = {
  sam_registration: CheckType.SAM_REGISTRATION,
  tin_match: CheckType.TIN_MATCH,
};

const STATUSES: Readonly<Record<CheckStatus, ProtoCheckStatus>> = {
  pass: ProtoCheckStatus.PASS,
  fail: ProtoCheckStatus.FAIL,
  error: ProtoCheckStatus.ERROR,
};

/** The checks of a message in its order, duplicates folded. Errors: invalid_request where there are none, or an unknown one. */
export function checksOf(types: readonly CheckType[]): Check[] {
  const known = [...new Set(types)].map((type) => {
    const found = Object.entries(CHECK_TYPES).find(([, each]) => each === type);
    if (!found) throw new ServiceError("invalid_request", { message: "The call names an unknown check." });
    return found[0] as Check;
  });
  if (known.length === 0) throw new ServiceError("invalid_request", { message: "The call names no check." });
  return known;
}

export const toCheckType = (check: Check): CheckType => CHECK_TYPES[check];

/** Errors: invalid_request where the call names none. */
export function modeOf(mode: ProtoMode): Mode {
  if (mode === ProtoMode.CACHED) return "cached";
  if (mode === ProtoMode.REALTIME) return "realtime";
  throw new ServiceError("invalid_request", { message: "The call names no mode." });
}

export function toVerification(document: VerificationDocument): MessageInitShape<typeof VerificationSchema> {
  return {
    id: document._id,
    entityId: document.entity_id,
    overallResult: STATUSES[document.overall_result],
    results: document.results.map((result) => ({
      checkType: CHECK_TYPES[result.check_type],
      status: STATUSES[result.status],
      confidence: result.confidence,
      origin: result.origin,
      dataFreshnessSeconds: BigInt(result.data_freshness_seconds),
      evidenceId: result.evidence_id,
      reason: result.reason,
    })),
    createdAt: timestampFromDate(document.created_at),
    actor: document.actor,
    mode: document.mode === "cached" ? ProtoMode.CACHED : ProtoMode.REALTIME,
  };
}

export function toEvidence(document: EvidenceWithContent): MessageInitShape<typeof EvidenceSchema> {
  return {
    id: document._id,
    verificationId: document.verification_id,
    checkType: CHECK_TYPES[document.check_type],
    origin: document.origin,
    content: document.content,
    contentType: document.content_type,
    sha256: document.sha256,
    attempts: document.attempts.map((attempt) => ({
      provider: attempt.provider,
      outcome: attempt.outcome,
      reason: attempt.reason,
      startedAt: timestampFromDate(attempt.started_at),
      durationMs: BigInt(attempt.duration_ms),
    })),
    createdAt: timestampFromDate(document.created_at),
  };
}

/** The record that tells others of a verification, in protobuf's binary form. */
export function toCompleted(tenant: Tenant, { verification, conclusions }: VerificationRecords): Uint8Array {
  const { run } = verification;
  return toBinary(
    VerificationCompletedSchema,
    create(VerificationCompletedSchema, {
      verificationId: verification._id,
      tenant: toProtoTenant(tenant),
      entityId: verification.entity_id,
      run: run && { monitorId: run.monitor_id, runSeq: BigInt(run.run_seq) },
      checks: verification.results.map((result, index) => ({
        checkType: CHECK_TYPES[result.check_type],
        status: STATUSES[result.status],
        reason: result.reason,
        inputsFingerprint: Buffer.from(conclusions[index]!.fingerprint, "hex"),
        facts: factsOf(conclusions[index]!),
      })),
      overallResult: STATUSES[verification.overall_result],
      createdAt: timestampFromDate(verification.created_at),
    }),
  );
}

function factsOf(conclusion: Conclusion): Record<string, string> {
  if (conclusion.kind === "error") return {};
  return { ...(conclusion.kind === "stored" ? conclusion.stored.facts : conclusion.answer.facts) };
}
