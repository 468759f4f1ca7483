import { newId } from "@vvs/ids";
import type { Parts } from "@vvs/registration";
import type { Tenant } from "@vvs/tenant";
import type { AnswerDocument, EvidenceDocument, Mode, ResultDocument, VerificationDocument } from "../documents.ts";
import { type EvidenceBody, sha256Of } from "../evidence/bodies.ts";
import type { MonitorRun } from "../providers/provider.ts";
import type { Conclusion } from "./conclusion.ts";
import { dataFreshnessSeconds, overallResult } from "./overall-result.ts";

/** The entity, the caller and the run of a verification. */
export interface VerificationContext {
  readonly tenant: Tenant;
  readonly entityId: string;
  readonly mode: Mode;
  readonly actor: string;
  readonly requestId: string;
  /** Only for a monitor's run. */
  readonly run?: MonitorRun & { readonly recordId: string };
}

/** Everything that one verification stores. */
export interface VerificationRecords {
  readonly verification: VerificationDocument;
  readonly evidence: readonly EvidenceDocument[];
  /** The bodies that the evidence names. */
  readonly bodies: readonly EvidenceBody[];
  readonly answers: readonly AnswerDocument[];
  /** The conclusions of the results, in the same order. */
  readonly conclusions: readonly Conclusion[];
}

/** Returns a verification's records from its checks' conclusions: results, evidence, and answers for later cached calls. */
export function verificationRecords(
  context: VerificationContext,
  conclusions: readonly Conclusion[],
  createdAt: Date,
): VerificationRecords {
  const organization_id = context.tenant.organizationId;
  const verificationId = newId("ver", createdAt);
  const results: ResultDocument[] = [];
  const evidence: EvidenceDocument[] = [];
  const bodies: EvidenceBody[] = [];
  const answers: AnswerDocument[] = [];
  for (const conclusion of conclusions) {
    const stored = conclusion.kind === "stored" ? undefined : evidenceOf(conclusion, createdAt);
    if (stored) evidence.push({ ...stored, organization_id, verification_id: verificationId });
    if (stored?.content_bytes) bodies.push({ sha256: stored.sha256, content: contentOf(conclusion) });
    const answer = answerOf(conclusion, stored?._id ?? "", { organization_id, entity_id: context.entityId }, createdAt);
    if (answer && conclusion.kind === "answered") answers.push(answer);
    results.push(resultOf(conclusion, answer, stored?._id ?? "", createdAt));
  }
  const verification: VerificationDocument = {
    _id: verificationId,
    organization_id,
    entity_id: context.entityId,
    mode: context.mode,
    overall_result: overallResult(results.map(({ status }) => status)),
    results,
    actor: context.actor,
    request_id: context.requestId,
    ...(context.run && {
      run_record_id: context.run.recordId,
      run: { monitor_id: context.run.monitorId, run_seq: context.run.runSeq },
    }),
    created_at: createdAt,
  };
  return { verification, evidence, bodies, answers, conclusions };
}

type NewConclusion = Exclude<Conclusion, { kind: "stored" }>;

function evidenceOf(
  conclusion: NewConclusion,
  createdAt: Date,
): Omit<EvidenceDocument, "organization_id" | "verification_id"> {
  const isAnswered = conclusion.kind === "answered";
  const content = Buffer.from(contentOf(conclusion), "utf8");
  return {
    _id: newId("evd", createdAt),
    check_type: conclusion.check,
    origin: isAnswered ? conclusion.origin : "none",
    content_bytes: content.length,
    content_type: isAnswered ? conclusion.answer.contentType : "",
    sha256: sha256Of(content),
    attempts: conclusion.attempts.map((attempt) => ({
      provider: attempt.provider,
      outcome: attempt.outcome,
      reason: attempt.reason,
      started_at: attempt.startedAt,
      duration_ms: attempt.durationMs,
    })),
    created_at: createdAt,
  };
}

/** Returns the answer's content; empty where no provider answered now. */
function contentOf(conclusion: Conclusion): string {
  return conclusion.kind === "answered" ? conclusion.answer.content : "";
}

function answerOf(
  conclusion: Conclusion,
  evidenceId: string,
  owner: Pick<AnswerDocument, "organization_id" | "entity_id">,
  createdAt: Date,
): AnswerDocument | undefined {
  if (conclusion.kind === "stored") return conclusion.stored;
  if (conclusion.kind === "error") return undefined;
  const { outcome, reason, confidence, dataDate, facts, parts } = conclusion.answer;
  return {
    _id: evidenceId,
    ...owner,
    check_type: conclusion.check,
    inputs_fingerprint: conclusion.fingerprint,
    outcome,
    reason,
    confidence,
    origin: conclusion.origin,
    data_date: dataDate,
    facts,
    ...(parts && { parts: withEvidence(parts, evidenceId) }),
    created_at: createdAt,
  };
}

/** Returns parts that name their evidence: this one, except for parts that an earlier answer received. */
function withEvidence({ registration, exclusions }: Parts, evidenceId: string): Parts {
  return {
    ...(registration && { registration: { evidence_id: evidenceId, ...registration } }),
    ...(exclusions && { exclusions: { evidence_id: evidenceId, ...exclusions } }),
  };
}

function resultOf(
  conclusion: Conclusion,
  answer: AnswerDocument | undefined,
  evidenceId: string,
  createdAt: Date,
): ResultDocument {
  return {
    check_type: conclusion.check,
    status: answer ? answer.outcome : "error",
    confidence: answer ? answer.confidence : 0,
    origin: answer ? answer.origin : "none",
    data_freshness_seconds: answer ? dataFreshnessSeconds(createdAt, answer.data_date) : 0,
    evidence_id: answer ? answer._id : evidenceId,
    reason: conclusion.kind === "error" ? conclusion.reason : answer!.reason,
  };
}
