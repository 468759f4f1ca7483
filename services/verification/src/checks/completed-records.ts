import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { toCheckType, toProtoStatus } from "@vvs/checks";
import { timeOfId } from "@vvs/ids";
import { VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import { partsToMessage } from "@vvs/registration";
import { type Tenant, toProtoTenant } from "@vvs/tenant";
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
  {
    externalId,
    entityName = "",
    entityTin,
    entityTinHash,
  }: Pick<CheckSubject, "externalId" | "entityName" | "entityTin" | "entityTinHash">,
): Uint8Array {
  const { run } = verification;
  // A TIN that matched is the entity's from then on.
  const matched = verification.results.findIndex(
    ({ check_type, status }) => check_type === "tin_match" && status === "pass",
  );
  const record = create(VerificationCompletedSchema, {
    verificationId: verification._id,
    tenant: toProtoTenant(tenant),
    entityId: verification.entity_id,
    overallResult: toProtoStatus(verification.overall_result),
    createdAt: timestampFromDate(verification.created_at),
    run: run && { monitorId: run.monitor_id, runSeq: BigInt(run.run_seq) },
    checks: verification.results.map(({ check_type, status, reason, evidence_id }, index) => ({
      checkType: toCheckType(check_type),
      status: toProtoStatus(status),
      reason,
      madeAt: timestampFromDate(timeOfId(evidence_id)),
      inputsFingerprint: Buffer.from(conclusions[index]!.fingerprint, "hex"),
      ...(check_type === "tin_match" && { tinFingerprint: conclusions[index]!.tinHash }),
      ...answeredIn(conclusions[index]!),
    })),
    externalId: run && externalId,
    entityName,
    entityTin: verification.results[matched]?.details?.tin ?? entityTin,
    entityTinFingerprint: conclusions[matched]?.tinHash ?? entityTinHash,
  });
  return toBinary(VerificationCompletedSchema, record);
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
    ...(parts &&
      conclusion.kind === "answered" && {
        digest: answerDigest(conclusion.check, conclusion.fingerprint, conclusion.answer),
      }),
  };
}

function completedFacts({ facts, details }: Pick<Answer, "facts" | "details">): Record<string, string> {
  const { tin, name, same_name, same_name_unknown } = details ?? {};
  const sameName = same_name?.length ? "found" : same_name_unknown && "unknown";
  return { ...facts, ...(tin && { tin }), ...(name && { name }), ...(sameName && { same_name: sameName }) };
}
