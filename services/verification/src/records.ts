import { newId } from "@vvs/ids";
import type { Tenant } from "@vvs/tenant";
import type { Mode } from "./checks.ts";
import type { Conclusion } from "./conclusion.ts";
import type { AnswerDocument, EvidenceDocument, ResultDocument, VerificationDocument } from "./documents.ts";
import { type EvidenceBody, sha256Of } from "./evidence/bodies.ts";
import { dataFreshnessSeconds, overallResult } from "./overall-result.ts";
import type { MonitorRun } from "./providers/provider.ts";

/** Who asked for a verification, and what for. */
export interface Asked {
  readonly tenant: Tenant;
  readonly entityId: string;
  readonly mode: Mode;
  readonly actor: string;
  readonly requestId: string;
  /** Of a monitor's run alone. */
  readonly run?: MonitorRun & { readonly recordId: string };
}

/** Everything that one verification stores. */
export interface VerificationRecords {
  readonly verification: VerificationDocument;
  readonly evidence: readonly EvidenceDocument[];
  /** What the evidence names. */
  readonly bodies: readonly EvidenceBody[];
  readonly answers: readonly AnswerDocument[];
  /** What the results rest on, in their order. */
  readonly conclusions: readonly Conclusion[];
}

/** A verification made of its checks' conclusions: results, evidence, and the answers that cached calls may have. */
export function verificationRecords(
  asked: Asked,
  conclusions: readonly Conclusion[],
  createdAt: Date,
): VerificationRecords {
  const organization_id = asked.tenant.organizationId;
  const verificationId = newId("ver", createdAt);
  const results: ResultDocument[] = [];
  const evidence: EvidenceDocument[] = [];
  const bodies: EvidenceBody[] = [];
  const answers: AnswerDocument[] = [];
  for (const conclusion of conclusions) {
    const made = conclusion.kind === "stored" ? undefined : evidenceOf(conclusion, createdAt);
    if (made) evidence.push({ ...made, organization_id, verification_id: verificationId });
    if (made?.content_bytes) bodies.push({ sha256: made.sha256, content: contentOf(conclusion) });
    const answer = answerOf(conclusion, made?._id ?? "", { organization_id, entity_id: asked.entityId }, createdAt);
    if (answer && conclusion.kind === "answered") answers.push(answer);
    results.push(resultOf(conclusion, answer, made?._id ?? "", createdAt));
  }
  const verification: VerificationDocument = {
    _id: verificationId,
    organization_id,
    entity_id: asked.entityId,
    mode: asked.mode,
    overall_result: overallResult(results.map(({ status }) => status)),
    results,
    actor: asked.actor,
    request_id: asked.requestId,
    ...(asked.run && {
      run_record_id: asked.run.recordId,
      run: { monitor_id: asked.run.monitorId, run_seq: asked.run.runSeq },
    }),
    created_at: createdAt,
  };
  return { verification, evidence, bodies, answers, conclusions };
}

type Asking = Exclude<Conclusion, { kind: "stored" }>;

function evidenceOf(
  conclusion: Asking,
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

/** Empty where nothing answered. */
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
  const { outcome, reason, confidence, dataDate, facts } = conclusion.answer;
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
    created_at: createdAt,
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
