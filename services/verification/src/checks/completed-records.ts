import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { toCheckType, toProtoStatus } from "@vvs/checks";
import { VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import { partsToMessage } from "@vvs/registration";
import { type Tenant, toProtoTenant } from "@vvs/tenant";
import type { AnswerDocument, VerificationDocument } from "../documents.ts";
import type { Answer } from "../providers/provider.ts";
import { answerDigest } from "./answer-digest.ts";
import type { CheckSubject } from "./check-inputs.ts";
import type { Conclusion } from "./conclude.ts";
import type { VerificationRecords } from "./records.ts";

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
