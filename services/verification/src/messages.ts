import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Check, checkOf, toCheckType, toProtoStatus } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import type { CheckType } from "@vvs/proto/common/v1/common";
import type { ResultDetailsSchema } from "@vvs/proto/verification/v1/result_details";
import {
  type EvidenceSchema,
  type PaymentSchema,
  Mode as ProtoMode,
  type VerificationSchema,
} from "@vvs/proto/verification/v1/verification";
import { exclusionToMessage } from "@vvs/registration";
import type { EvidenceWithContent, Mode, PaymentDocument, ResultDocument, VerificationDocument } from "./documents.ts";

/**
 * Returns the checks that a call names, in its order and without duplicates. Errors: invalid_request where it names none,
 * or one that this version does not know.
 */
export function checksOf(types: readonly CheckType[]): Check[] {
  const checks = [...new Set(types)].map((type) => {
    const check = checkOf(type);
    if (!check) throw new ServiceError("invalid_request", { message: "The call names an unknown check." });
    return check;
  });
  if (checks.length === 0) throw new ServiceError("invalid_request", { message: "The call names no check." });
  return checks;
}

/** Errors: invalid_request where the call names no mode. */
export function modeOf(mode: ProtoMode): Mode {
  if (mode === ProtoMode.CACHED) return "cached";
  if (mode === ProtoMode.REALTIME) return "realtime";
  throw new ServiceError("invalid_request", { message: "The call names no mode." });
}

export function toVerification(document: VerificationDocument): MessageInitShape<typeof VerificationSchema> {
  return {
    id: document._id,
    entityId: document.entity_id,
    overallResult: toProtoStatus(document.overall_result),
    results: document.results.map((result) => ({
      checkType: toCheckType(result.check_type),
      status: toProtoStatus(result.status),
      confidence: result.confidence,
      origin: result.origin,
      dataFreshnessSeconds: BigInt(result.data_freshness_seconds),
      evidenceId: result.evidence_id,
      reason: result.reason,
      details: result.details && toDetails(result.details),
    })),
    createdAt: timestampFromDate(document.created_at),
    actor: document.actor,
    mode: document.mode === "cached" ? ProtoMode.CACHED : ProtoMode.REALTIME,
    payment: document.payment && toPayment(document.payment),
    tinFingerprint: document.tin_fingerprint?.value(),
  };
}

function toPayment({ doubts, given_name, name_agrees }: PaymentDocument): MessageInitShape<typeof PaymentSchema> {
  return { doubts: [...doubts], givenName: given_name, nameAgrees: name_agrees };
}

function toDetails(details: NonNullable<ResultDocument["details"]>): MessageInitShape<typeof ResultDetailsSchema> {
  const exclusions = details.exclusions?.map(exclusionToMessage);
  return {
    registrationStatus: details.registration_status,
    expirationDate: details.expiration_date,
    legalName: details.legal_name,
    cage: details.cage,
    entityType: details.entity_type,
    exclusions: exclusions && { exclusions },
    irsCode: details.irs_code,
    tin: details.tin,
    name: details.name,
    sameName: details.same_name?.map(({ active_date, termination_date, ...same }) => ({
      ...same,
      activeDate: active_date,
      terminationDate: termination_date,
    })),
    sameNameUnknown: details.same_name_unknown,
    dataAsOf: timestampFromDate(details.data_as_of),
  };
}

export function toEvidence(document: EvidenceWithContent): MessageInitShape<typeof EvidenceSchema> {
  return {
    id: document._id,
    verificationId: document.verification_id,
    checkType: toCheckType(document.check_type),
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
    sources: document.sources?.map(({ date, ...source }) => ({ ...source, dataAsOf: timestampFromDate(date) })) ?? [],
  };
}
