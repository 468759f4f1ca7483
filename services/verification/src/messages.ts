import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Check, checkOf, toCheckType, toProtoStatus } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import type { CheckType } from "@vvs/proto/common/v1/common";
import { VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import type { ResultDetailsSchema } from "@vvs/proto/verification/v1/result_details";
import {
  type EvidenceSchema,
  Mode as ProtoMode,
  type VerificationSchema,
} from "@vvs/proto/verification/v1/verification";
import { exclusionToMessage, partsToMessage } from "@vvs/registration";
import { type Tenant, toProtoTenant } from "@vvs/tenant";
import { answerDigest } from "./checks/answer-digest.ts";
import type { CheckSubject } from "./checks/check-inputs.ts";
import type { Conclusion } from "./checks/conclude.ts";
import type { VerificationRecords } from "./checks/records.ts";
import type { AnswerDocument, EvidenceWithContent, Mode, ResultDocument, VerificationDocument } from "./documents.ts";
import { sourcesOfEvidence } from "./evidence/sources.ts";
import type { Answer } from "./providers/provider.ts";

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
  };
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
    sources: sourcesOfEvidence(document).map(({ date, ...source }) => ({
      ...source,
      dataAsOf: timestampFromDate(date),
    })),
  };
}

/**
 * Returns the record of a verification that was stored, in protobuf's binary form. `externalId` is the organization's own
 * number of the entity.
 */
export function toCompleted(
  tenant: Tenant,
  { verification, conclusions }: VerificationRecords,
  { externalId, entityName = "", entityTin }: Pick<CheckSubject, "externalId" | "entityName" | "entityTin">,
): Uint8Array {
  const { run } = verification;
  // A TIN that matched is the entity's from then on.
  const matched = verification.results.find(
    ({ check_type, status }) => check_type === "tin_match" && status === "pass",
  );
  return toBinary(
    VerificationCompletedSchema,
    create(VerificationCompletedSchema, {
      verificationId: verification._id,
      tenant: toProtoTenant(tenant),
      entityId: verification.entity_id,
      run: run && { monitorId: run.monitor_id, runSeq: BigInt(run.run_seq) },
      checks: verification.results.map((result, index) => ({
        checkType: toCheckType(result.check_type),
        status: toProtoStatus(result.status),
        reason: result.reason,
        inputsFingerprint: Buffer.from(conclusions[index]!.fingerprint, "hex"),
        ...answeredIn(conclusions[index]!),
      })),
      overallResult: toProtoStatus(verification.overall_result),
      createdAt: timestampFromDate(verification.created_at),
      externalId: run && externalId,
      entityName,
      entityTin: matched?.details?.tin ?? entityTin,
    }),
  );
}

/**
 * Returns the record of an earlier verification once more, for the lists of vendors only: without its run. Facts are those
 * of the stored answers.
 */
export function toCompletedAgain(
  tenant: Tenant,
  verification: VerificationDocument,
  answers: ReadonlyMap<string, AnswerDocument>,
): Uint8Array {
  return toBinary(
    VerificationCompletedSchema,
    create(VerificationCompletedSchema, {
      verificationId: verification._id,
      tenant: toProtoTenant(tenant),
      entityId: verification.entity_id,
      checks: verification.results.map(({ check_type, status, reason, evidence_id }) => ({
        checkType: toCheckType(check_type),
        status: toProtoStatus(status),
        reason,
        facts: completedFacts(answers.get(evidence_id) ?? {}),
      })),
      overallResult: toProtoStatus(verification.overall_result),
      createdAt: timestampFromDate(verification.created_at),
    }),
  );
}

/** Returns the facts and parts of a conclusion's answer. What tin_match asked about is a fact too. */
function answeredIn(conclusion: Conclusion) {
  if (conclusion.kind === "error") return {};
  const answer: Pick<Answer, "facts" | "details" | "parts" | "withdrawnLoads"> =
    conclusion.kind === "stored" ? conclusion.stored : conclusion.answer;
  const { parts, withdrawnLoads = [] } = answer;
  return {
    facts: completedFacts(answer),
    ...(parts && { parts: partsToMessage(parts, withdrawnLoads) }),
    ...(parts && conclusion.kind === "answered" && { digest: digestOf(conclusion) }),
  };
}

function digestOf({ check, fingerprint, answer }: Extract<Conclusion, { kind: "answered" }>): Uint8Array {
  return answerDigest(check, fingerprint, answer);
}

function completedFacts({ facts, details }: Partial<Pick<Answer, "facts" | "details">>): Record<string, string> {
  const { tin, name } = details ?? {};
  return { ...facts, ...(tin && { tin }), ...(name && { name }) };
}
