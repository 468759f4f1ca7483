import type { ResultDetails } from "@vvs/proto/verification/v1/result_details";
import type { Evidence, Provider, Verification } from "@vvs/proto/verification/v1/verification";
import { renderCheck, renderStatus, renderTime } from "./values.ts";

/** The public Verification. Links to evidence begin with the public base URL. */
export function renderVerification(verification: Verification, publicBaseUrl: string) {
  return {
    id: verification.id,
    entity_id: verification.entityId,
    overall_result: renderStatus(verification.overallResult),
    results: verification.results.map((result) => ({
      check_type: renderCheck(result.checkType),
      status: renderStatus(result.status),
      confidence: result.confidence,
      origin: result.origin,
      determinism: "deterministic",
      data_freshness_seconds: Number(result.dataFreshnessSeconds),
      evidence_uri: `${publicBaseUrl}/v1/evidence/${result.evidenceId}`,
      reason: result.reason || undefined,
      details: result.details && renderDetails(result.details),
    })),
    created_at: renderTime(verification.createdAt),
  };
}

function renderDetails(details: ResultDetails) {
  return {
    registration_status: details.registrationStatus || undefined,
    expiration_date: details.expirationDate || undefined,
    legal_name: details.legalName || undefined,
    cage: details.cage || undefined,
    entity_type: details.entityType || undefined,
    exclusions: details.exclusions?.exclusions.map((exclusion) => ({
      program: exclusion.program || undefined,
      type: exclusion.type || undefined,
      agency: exclusion.agency || undefined,
      active_date: exclusion.activeDate || undefined,
      termination_date: exclusion.terminationDate || undefined,
      // What was stored before effects were known counts as a bar.
      effect: exclusion.effect || "bar",
      comment: exclusion.comment || undefined,
    })),
    irs_code: details.irsCode || undefined,
    tin: details.tin || undefined,
    name: details.name || undefined,
    data_as_of: renderTime(details.dataAsOf),
  };
}

/** The public Evidence. Its content is empty if no provider answered. */
export function renderEvidence(evidence: Evidence) {
  return {
    id: evidence.id,
    verification_id: evidence.verificationId,
    check_type: renderCheck(evidence.checkType),
    origin: evidence.origin,
    content: evidence.content,
    content_type: evidence.contentType,
    sha256: evidence.sha256,
    attempts: evidence.attempts.map((attempt) => ({
      provider: attempt.provider,
      outcome: attempt.outcome,
      reason: attempt.reason || undefined,
      started_at: renderTime(attempt.startedAt),
      duration_ms: Number(attempt.durationMs),
    })),
    sources: evidence.sources.map(({ part, origin, dataAsOf, file }) => ({
      part,
      origin,
      data_as_of: renderTime(dataAsOf),
      file: file || undefined,
    })),
    created_at: renderTime(evidence.createdAt),
  };
}

/** The public Provider with its state. */
export function renderProvider(provider: Provider) {
  return {
    name: provider.name,
    checks: provider.checks.map(renderCheck),
    state: provider.state,
    quota_remaining: provider.quotaRemaining === undefined ? undefined : Number(provider.quotaRemaining),
    last_success_at: renderTime(provider.lastSuccessAt),
  };
}
