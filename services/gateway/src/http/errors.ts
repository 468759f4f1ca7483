import { type ErrorCode, ServiceError, type Violation } from "@vvs/errors";
import { maskTins } from "@vvs/identifiers";
import { renderCandidate } from "../render/candidate.ts";

/** More problems than a person reads; a body can hold thousands. */
const MAX_DETAILS = 100;
const UNAVAILABLE_RETRY_SECONDS = 1;

/** An error as clients see it. Whatever looks like a TIN is masked, also in the paths, which can hold a client's keys. */
export function errorBody(error: ServiceError, requestId: string): Record<string, unknown> {
  return {
    error: error.code,
    message: maskTins(error.message),
    request_id: requestId,
    details: error.details.length > 0 ? error.details.slice(0, MAX_DETAILS).map(maskViolation) : undefined,
    entity_id: error.entityId,
    candidates: error.candidates?.map(renderCandidate),
  };
}

/** The headers that belong to an error. */
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

/** 400 with all problems: the only one in the message itself, several by their number. Errors: always throws. */
export function refuseInvalid(violations: readonly Violation[]): never {
  const [first] = violations;
  const message =
    violations.length === 1
      ? `The request is invalid: ${first!.path} ${first!.message}.`
      : `The request has ${violations.length} problems; details names each.`;
  throw new ServiceError("invalid_request", { message, details: violations });
}

/** What a service may tell a client. The rest would be a fault between services, and none of the client's business. */
const PASSED_ON: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "invalid_request",
  "limit_exceeded",
  "entity_not_found",
  "verification_not_found",
  "monitor_not_found",
  "evidence_not_found",
  "entity_exists",
  "ambiguous_match",
  "idempotency_conflict",
  "idempotency_mismatch",
  "service_unavailable",
]);

/** Total: what a call of a service threw, as the refusal that the client gets. */
export function fromService(error: unknown): ServiceError {
  if (error instanceof ServiceError && PASSED_ON.has(error.code)) return error;
  return new ServiceError("internal_error", { cause: error });
}
