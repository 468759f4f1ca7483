import { z } from "@vvs/config";
import { catalogue, type ErrorCode, ServiceError, type Violation } from "@vvs/errors";
import { maskTins } from "@vvs/identifiers";
import { candidateSchema, renderCandidate } from "../render/entity.ts";
import { id } from "../render/schemas.ts";

/** Maximum number of problems listed in an answer, unless said otherwise. A body can have thousands. */
const MAX_DETAILS = 100;
const UNAVAILABLE_RETRY_SECONDS = 1;

const codes = Object.keys(catalogue) as [ErrorCode, ...ErrorCode[]];

/** The body of every error. */
export const errorSchema = z
  .object({
    error: z.enum(codes).meta({ id: "ErrorCode", description: "The kind of error, for programs." }),
    message: z.string().describe("What happened and what to do, for people."),
    request_id: z.string().describe("Quote it when you ask for help."),
    doc_url: z.string().describe("Where the reference page explains the error and says what to do."),
    details: z
      .array(
        z.object({
          path: z.string().describe("Where the problem is, such as `identifiers.uei` or `checks[1]`."),
          message: z.string().describe("The end of a sentence that begins with `path`."),
        }),
      )
      .optional()
      .describe("Every problem of the request, with 400; where `message` says so, the first of them."),
    entity_id: id("ent", "The entity that exists, with `entity_exists`.").optional(),
    candidates: z.array(candidateSchema).optional().describe("The entities that match, with `ambiguous_match`."),
  })
  .meta({ id: "Error", description: "The body of every error." });

/**
 * Returns the body of an error answer. Text that looks like a TIN is masked, also in paths, which can contain keys from the
 * client. `baseUrl` is the address of the service for clients.
 */
export function errorBody(error: ServiceError, requestId: string, baseUrl: string): z.infer<typeof errorSchema> {
  return {
    error: error.code,
    message: maskTins(error.message),
    request_id: requestId,
    doc_url: errorDocUrl(baseUrl, error.code),
    details: error.details.length > 0 ? error.details.map(maskViolation) : undefined,
    entity_id: error.entityId,
    candidates: error.candidates?.map(renderCandidate),
  };
}

/** Returns the id of the place on the reference page that explains an error. */
export function errorAnchor(code: ErrorCode): string {
  return `error-${code}`;
}

/** Returns the URL of that place. `baseUrl` is the address of the service for clients. */
export function errorDocUrl(baseUrl: string, code: ErrorCode): string {
  return `${baseUrl}/docs#${errorAnchor(code)}`;
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

/**
 * Throws invalid_request with the problems, or the first `max` of them. There are `count`, of which `violations` may lack some
 * beyond the maximum. The message names a single problem; several are only counted.
 */
export function refuseInvalid(
  violations: readonly Violation[],
  { max = MAX_DETAILS, count = violations.length }: { max?: number; count?: number } = {},
): never {
  const [first] = violations;
  const listed = count > max ? `The first ${max} are` : "They are";
  const message = count === 1 ? onlyProblem(first!) : `The request has ${count} problems. ${listed} listed in details.`;
  throw new ServiceError("invalid_request", { message, details: violations.slice(0, max) });
}

function onlyProblem({ path, message }: Violation): string {
  return `The request is invalid: ${path} ${message}.`;
}

/** Errors that only the gateway refuses clients with. From a service they are a fault between services. */
const OWN: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "unauthorized",
  "forbidden",
  "method_not_allowed",
  "payload_too_large",
  "unsupported_media_type",
  "internal_error",
]);

/**
 * Returns the error that the client gets for anything that a call to a service threw. Where a service found one problem, and
 * has no text of its own, the message names it as the gateway does.
 */
export function fromService(error: unknown): ServiceError {
  if (error instanceof ServiceError && !OWN.has(error.code)) {
    const { code, message, details } = error;
    const isPlain = code === "invalid_request" && message === catalogue.invalid_request.text && details.length === 1;
    return isPlain ? new ServiceError(code, { message: onlyProblem(details[0]!), details, cause: error }) : error;
  }
  return new ServiceError("internal_error", { cause: error });
}
