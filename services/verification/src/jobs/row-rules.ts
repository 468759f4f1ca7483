import type { ServiceError } from "@vvs/errors";
import type { RowOutcome } from "@vvs/jobs";
import type { Environment } from "@vvs/tenant";
import type { VerificationDocument } from "../documents.ts";
import type { RowDocument, RowResult } from "./documents.ts";

/**
 * How long a row is asked again, and when, in milliseconds. Only the time counts in which it waits for its next try: not that before
 * its first one, and none in which its job rests or waits for its turn. In the sandbox, where time runs fast, a day is a minute.
 */
const ASKING_AGAIN: Readonly<Record<Environment, { forMs: number; firstMs: number; longestMs: number }>> = {
  live: { forMs: 24 * 60 * 60_000, firstMs: 60_000, longestMs: 60 * 60_000 },
  sandbox: { forMs: 60_000, firstMs: 5_000, longestMs: 15_000 },
};

/** Reasons of errors that asking again can mend: the sources failed, or had data that is too old. */
const MENDABLE: readonly string[] = ["providers_failed", "stale_source"];

/** Returns whether asking again can mend an error with this reason. */
export function canBeMended(reason: string): boolean {
  return MENDABLE.includes(reason);
}

type Waits = Pick<RowDocument, "waits" | "due_at">;

/** Returns whether a row that is due has waited for as long as rows are asked again: its next answer is its last one. */
export function isLastTry(environment: Environment, row: Waits): boolean {
  return waitedMs(row) >= ASKING_AGAIN[environment].forMs;
}

/**
 * Returns the fields of a row that was tried now without an answer: it waits `waitMs` milliseconds, by default 1, 2, 4 … 60 minutes
 * after its tries, but not longer than rows are asked again.
 */
export function nextWait(environment: Environment, row: Waits, { now, waitMs }: { now: Date; waitMs?: number }) {
  const { forMs, firstMs, longestMs } = ASKING_AGAIN[environment];
  const before_ms = waitedMs(row);
  const wanted = waitMs ?? Math.min(longestMs, before_ms + firstMs);
  const due_at = new Date(now.getTime() + Math.min(wanted, forMs - before_ms));
  return { due_at, waits: { since: now, before_ms } };
}

function waitedMs({ waits, due_at }: Waits): number {
  return waits && due_at ? waits.before_ms + due_at.getTime() - waits.since.getTime() : 0;
}

/** Returns the result of a row whose vendor could not be resolved; undefined where that says nothing about the row. */
export function refusedRow(error: ServiceError): RowResult | undefined {
  const { code, candidates, entityId } = error;
  const outcomes: { readonly [C in ServiceError["code"]]?: RowOutcome } = {
    ambiguous_match: "ambiguous",
    entity_exists: "conflict",
    entity_not_found: "not_found",
    limit_exceeded: "limit_exceeded",
    invalid_request: "invalid",
  };
  const outcome = outcomes[code];
  if (!outcome) return undefined;
  return {
    outcome,
    decision: "review",
    ...(entityId && { entity_id: entityId }),
    ...(candidates && { candidates: candidates.map(candidateOf) }),
    problems: problemsOf(error, "row"),
  };
}

/** Returns what a refusal says is wrong: its details, or its message under `path`. */
export function problemsOf({ message, details }: ServiceError, path: string) {
  return details.length > 0 ? details.map((each) => ({ path: each.path, message: each.message })) : [{ path, message }];
}

/** Returns a candidate as stored. */
export function candidateOf({ id, legalName, confidence }: { id: string; legalName: string; confidence: number }) {
  return { id, legal_name: legalName, confidence };
}

/**
 * Returns the pause between counts of the rows of a job that is worked on, in milliseconds, by how long the last one took. Each reads
 * all rows: with pauses of a second, counting would take more of the database's time the larger a job is.
 */
export function countPauseMs(tookMs: number): number {
  return Math.max(1_000, 50 * tookMs);
}

/** What is known of a verified row besides its verification. */
export interface RowSubject {
  /** Name of the entity; empty while it has none. */
  readonly legalName: string;
  readonly monitor: Pick<RowResult, "monitor_id" | "problems">;
}

/** Returns the result of a verified row. */
export function verifiedRow(verification: VerificationDocument, { legalName, monitor }: RowSubject): RowResult {
  const { decision, name_agrees } = verification.payment!;
  return {
    outcome: verification.overall_result,
    decision,
    ...(name_agrees !== undefined && { name_agrees }),
    entity_id: verification.entity_id,
    ...(legalName && { legal_name: legalName }),
    verification_id: verification._id,
    ...monitor,
  };
}
