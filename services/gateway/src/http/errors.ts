import { type ErrorCode, ServiceError, type Violation } from "@vvs/errors";
import { maskTins } from "@vvs/identifiers";
import { renderCandidate } from "../render/candidate.ts";
import { errorDocUrl } from "./error-link.ts";

/** Maximum number of problems listed in an answer. A body can have thousands. */
const MAX_DETAILS = 100;
const UNAVAILABLE_RETRY_SECONDS = 1;

/**
 * Returns the body of an error answer. Text that looks like a TIN is masked, also in paths, which can contain keys from the
 * client. `baseUrl` is the address of the service for clients.
 */
export function errorBody(error: ServiceError, requestId: string, baseUrl: string): Record<string, unknown> {
  return {
    error: error.code,
    message: maskTins(error.message),
    request_id: requestId,
    doc_url: errorDocUrl(baseUrl, error.code),
    details: error.details.length > 0 ? error.details.slice(0, MAX_DETAILS).map(maskViolation) : undefined,
    entity_id: error.entityId,
    candidates: error.candidates?.map(renderCandidate),
  };
}

/** Returns the headers of an error answer. */
export function errorHeaders(error: ServiceError): Record<string, string> {
  const retryAfterSeconds =
    error.retryAfterSeconds ?? (error.code === "service_unavailable" ? UNAVAILABLE_RETRY_SECONDS : undefined);
  return {
    ...(error.code === "unauthorized" ? { "WWW-Authenticate": "Bearer" } : {}),
    ...(retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) }),
  };
}

function maskViolation({ path, message }: Violation): Violation {
  return { path: maskTins(path), message: maskTins(message) };
}

/** Throws invalid_request with all problems. The message names a single problem; several are only counted. */
export function refuseInvalid(violations: readonly Violation[]): never {
  const [first] = violations;
  const message =
    violations.length === 1
      ? `The request is invalid: ${first!.path} ${first!.message}.`
      : `The request has ${violations.length} problems. They are listed in details.`;
  throw new ServiceError("invalid_request", { message, details: violations });
}

/** Errors of services that are passed on to clients. Any other error is a fault between services and becomes internal_error. */
const PASSED_THROUGH: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "invalid_request",
  "cursor_expired",
  "limit_exceeded",
  "entity_not_found",
  "verification_not_found",
  "monitor_not_found",
  "evidence_not_found",
  "entity_exists",
  "ambiguous_match",
  "idempotency_conflict",
  "idempotency_mismatch",
  "monitor_canceled",
  "rate_limited",
  "service_unavailable",
]);

/** Returns the error that the client gets for anything that a call to a service threw. */
export function fromService(error: unknown): ServiceError {
  if (error instanceof ServiceError && PASSED_THROUGH.has(error.code)) return error;
  return new ServiceError("internal_error", { cause: error });
}
