/**
 * All error codes of the product, each with its gRPC status, its HTTP status and its default text. docs/errors.md
 * and the reference page explain them to users (advice.ts).
 */
export const catalogue = {
  invalid_request: { grpc: 3, http: 400, text: "The request is invalid." },
  cursor_expired: {
    grpc: 11,
    http: 400,
    text: "Events after this cursor are no longer kept. Send after=start to read from the oldest that is.",
  },
  unauthorized: { grpc: 16, http: 401, text: "The API key is missing, malformed, unknown, revoked or expired." },
  forbidden: { grpc: 7, http: 403, text: "The API key may not do this." },
  limit_exceeded: { grpc: 8, http: 403, text: "A limit of the plan is reached." },
  entity_not_found: { grpc: 5, http: 404, text: "No such entity." },
  verification_not_found: { grpc: 5, http: 404, text: "No such verification." },
  monitor_not_found: { grpc: 5, http: 404, text: "No such monitor." },
  evidence_not_found: { grpc: 5, http: 404, text: "No such evidence." },
  job_not_found: { grpc: 5, http: 404, text: "No such job." },
  not_found: { grpc: 5, http: 404, text: "Not found." },
  method_not_allowed: {
    grpc: 12,
    http: 405,
    text: "This method is not allowed here. The Allow header lists those that are.",
  },
  payload_too_large: { grpc: 3, http: 413, text: "The body is larger than 100 kB, or 5 MB on /v1/jobs." },
  unsupported_media_type: {
    grpc: 3,
    http: 415,
    text: "Send the body as JSON, with the header Content-Type: application/json.",
  },
  entity_exists: { grpc: 6, http: 409, text: "An entity with one of these identifiers exists." },
  ambiguous_match: { grpc: 9, http: 409, text: "Several entities match." },
  idempotency_conflict: { grpc: 10, http: 409, text: "The first call with this Idempotency-Key is still running." },
  idempotency_mismatch: { grpc: 9, http: 422, text: "This Idempotency-Key was used with another body." },
  monitor_canceled: { grpc: 9, http: 409, text: "The monitor is canceled; create another one." },
  job_finished: { grpc: 9, http: 409, text: "The job is completed, so there is nothing left to cancel." },
  too_many_rows: { grpc: 8, http: 409, text: "The plan's limit of rows that wait for their answer is reached." },
  rate_limited: { grpc: 8, http: 429, text: "Too many requests." },
  internal_error: { grpc: 13, http: 500, text: "Something went wrong on our side." },
  service_unavailable: { grpc: 14, http: 503, text: "The service is unavailable for a moment; try again." },
} as const satisfies Record<string, { grpc: number; http: number; text: string }>;

/** A code of the catalogue, as clients see it in `error`. */
export type ErrorCode = keyof typeof catalogue;

/** Returns whether a text is a code of the catalogue. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(catalogue, text);
}
