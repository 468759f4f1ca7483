import type { Check, ErrorReason } from "@vvs/checks";
import type { HeldKey } from "@vvs/idempotency";
import { newId } from "@vvs/ids";
import type { OutboxRecord } from "@vvs/outbox";
import type { Parts } from "@vvs/registration";
import { Binary, type ClientSession } from "mongodb";
import type { AnswerDocument, EvidenceDocument, ResultDocument, VerificationDocument } from "../documents.ts";
import { type EvidenceBody, sha256Of } from "../evidence/bodies.ts";
import type { CompletedRow } from "../open-rows.ts";
import type { KnownExclusions } from "../providers/provider.ts";
import type { CheckTask, Conclusion } from "./conclude.ts";
import { overallResult } from "./overall-result.ts";
import { decisionOf } from "./payment.ts";

/** Everything that one verification stores. */
export interface VerificationRecords {
  readonly verification: VerificationDocument;
  readonly evidence: readonly EvidenceDocument[];
  /** The bodies that the evidence names. */
  readonly bodies: readonly EvidenceBody[];
  readonly answers: readonly AnswerDocument[];
  /** Ids of those answers to whose questions the organization had none yet. */
  readonly firsts: readonly string[];
  /** The withdrawn loads that the answers' sources know. */
  readonly withdrawnLoads: readonly string[];
  /** The conclusions of the results, in the same order. */
  readonly conclusions: readonly Conclusion[];
}

/** The conclusions of a verification's checks. */
export interface Concluded {
  readonly conclusions: readonly Conclusion[];
  /** What the loaded files say of the vendor's exclusions, where they were read because no check looks them up now. */
  readonly exclusions?: KnownExclusions | undefined;
}

/** Returns a verification's records from its checks' conclusions: results, evidence, and answers for later cached calls. */
export function verificationRecords(
  task: Pick<CheckTask, "caller" | "subject" | "mode" | "run" | "givenName" | "nameAgrees">,
  { conclusions, exclusions }: Concluded,
  createdAt: Date,
): VerificationRecords {
  const { caller, subject, mode, run, givenName = "", nameAgrees } = task;
  const owner = { organization_id: caller.tenant.organizationId, entity_id: subject.entityId };
  const verificationId = newId("ver", createdAt);
  const evidence: EvidenceDocument[] = [];
  const bodies: EvidenceBody[] = [];
  const answers: AnswerDocument[] = [];
  const firsts: string[] = [];
  const results = conclusions.map((conclusion) => {
    const { check, kind } = conclusion;
    if (kind === "stored") return resultOf(conclusion.stored, createdAt);
    const { origin, answer } = kind === "answered" ? conclusion : { origin: "none", answer: undefined };
    const content = answer?.content ?? "";
    const sha256 = sha256Of(content);
    const evidenceId = newId("evd", createdAt);
    const restsOn = earlierEvidence(answer?.parts);
    if (content) bodies.push({ sha256, content });
    evidence.push({
      _id: evidenceId,
      organization_id: owner.organization_id,
      verification_id: verificationId,
      check_type: check,
      origin,
      content_bytes: Buffer.byteLength(content),
      content_type: answer?.contentType ?? "",
      sha256,
      ...(answer?.sources && { sources: answer.sources }),
      ...(restsOn.length > 0 && { rests_on: restsOn }),
      attempts: conclusion.attempts,
      created_at: createdAt,
    });
    if (kind === "error") return errorOf(check, conclusion.reason, evidenceId);
    const { outcome, reason, confidence, dataDate, facts, details, parts } = conclusion.answer;
    const stored: AnswerDocument = {
      _id: evidenceId,
      ...owner,
      check_type: check,
      inputs_fingerprint: conclusion.fingerprint,
      outcome,
      reason,
      confidence,
      origin,
      data_date: dataDate,
      facts,
      ...(details && { details }),
      ...(parts && { parts: withEvidence(parts, evidenceId) }),
      created_at: createdAt,
    };
    answers.push(stored);
    if (conclusion.isFirst) firsts.push(stored._id);
    return resultOf(stored, createdAt);
  });
  const overall_result = overallResult(results.map(({ status }) => status));
  const decided = { overall_result, results, created_at: createdAt };
  const tinHash = conclusions.find(({ check, kind }) => check === "tin_match" && kind !== "error")?.tinHash;
  const verification: VerificationDocument = {
    _id: verificationId,
    ...owner,
    mode,
    ...decided,
    payment: decisionOf({ verification: decided, nameAgrees, givenName, entityName: subject.entityName, exclusions }),
    ...(tinHash && { tin_fingerprint: new Binary(tinHash) }),
    actor: caller.actor,
    request_id: caller.requestId,
    ...(run && { run_record_id: run.recordId, run: { monitor_id: run.monitorId, run_seq: run.runSeq } }),
  };
  const withdrawnLoads = conclusions.flatMap((each) =>
    each.kind === "answered" ? (each.answer.withdrawnLoads ?? []) : [],
  );
  return { verification, evidence, bodies, answers, firsts, withdrawnLoads, conclusions };
}

/** Returns the evidence of earlier answers that the parts are from. */
function earlierEvidence({ registration, exclusions }: Parts = {}): string[] {
  return [...new Set([registration, exclusions].flatMap((part) => part?.evidence_id ?? []))];
}

/** Returns parts that name their evidence: this one, except for parts that an earlier answer received. */
function withEvidence({ registration, exclusions }: Parts, evidenceId: string): Parts {
  return {
    ...(registration && { registration: { evidence_id: evidenceId, ...registration } }),
    ...(exclusions && { exclusions: { evidence_id: evidenceId, ...exclusions } }),
  };
}

function resultOf(answer: AnswerDocument, createdAt: Date): ResultDocument {
  return {
    check_type: answer.check_type,
    status: answer.outcome,
    confidence: answer.confidence,
    origin: answer.origin,
    data_freshness_seconds: dataFreshnessSeconds(createdAt, answer.data_date),
    evidence_id: answer._id,
    reason: answer.reason,
    ...(answer.details && { details: { ...answer.details, data_as_of: answer.data_date } }),
  };
}

function errorOf(check_type: Check, reason: ErrorReason, evidence_id: string): ResultDocument {
  const status = "error";
  return { check_type, status, confidence: 0, origin: "none", data_freshness_seconds: 0, evidence_id, reason };
}

/** Returns the age of an answer's data, in whole seconds; 0 for data dated later. */
export function dataFreshnessSeconds(createdAt: Date, dataDate: Date): number {
  return Math.max(0, Math.floor((createdAt.getTime() - dataDate.getTime()) / 1_000));
}

/** What is stored of one verification. */
export interface Saving {
  readonly records: VerificationRecords;
  /** Publishes the verification; with the trace of its call, since calls share transactions. */
  readonly completed: OutboxRecord;
  /** The call's Idempotency-Key, completed in the same transaction; undefined where it has none. */
  readonly key: HeldKey | undefined;
  /** Writes into the same transaction. */
  readonly complete: ((session: ClientSession) => Promise<void>) | undefined;
  /** Completes the job's row that the verification is for. All or nothing is stored, so it must match. */
  readonly row?: CompletedRow | undefined;
}
