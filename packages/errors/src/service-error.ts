import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Candidate, CandidateSchema } from "@vvs/proto/common/v1/common";
import { catalogue, type ErrorCode } from "./catalogue.ts";

/** One problem of a request: its place and a text, which never contains the value itself, since that may be secret. */
export interface Violation {
  readonly path: string;
  readonly message: string;
}

interface ServiceErrorOptions {
  /** Public text; the catalogue's where absent. */
  readonly message?: string;
  readonly details?: readonly Violation[];
  readonly entityId?: string;
  readonly candidates?: readonly MessageInitShape<typeof CandidateSchema>[] | undefined;
  readonly retryAfterSeconds?: number;
  /** With service_unavailable: the call may have had an effect, or may still have one. */
  readonly outcomeUnknown?: boolean;
  /** Only for logs; never leaves the service. */
  readonly cause?: unknown;
}

/**
 * An error that the caller may see. Its message is public; internal details belong in `cause`. It crosses gRPC with all
 * fields but `cause`, and only the gateway and the dashboard convert it to HTTP.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly Violation[];
  readonly entityId: string | undefined;
  readonly candidates: readonly Candidate[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly outcomeUnknown: boolean;

  constructor(code: ErrorCode, options: ServiceErrorOptions = {}) {
    super(options.message ?? catalogue[code].text, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ServiceError";
    this.code = code;
    this.details = options.details ?? [];
    this.entityId = options.entityId;
    this.candidates = options.candidates?.map((candidate) => create(CandidateSchema, candidate));
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.outcomeUnknown = options.outcomeUnknown ?? false;
  }

  /** Returns a ServiceError as it is, and anything else as the cause of an internal_error, without its text. */
  static from(error: unknown): ServiceError {
    return error instanceof ServiceError ? error : new ServiceError("internal_error", { cause: error });
  }
}

const OUTCOME_UNKNOWN =
  "The outcome of this request is unknown: it may have taken effect, or may still do so. Repeat it with the same Idempotency-Key, or check before you repeat it.";

/** Returns the error of a call that may have had its effect: service_unavailable, with a public text that says so. */
export function outcomeUnknown(cause: unknown): ServiceError {
  return new ServiceError("service_unavailable", {
    message: OUTCOME_UNKNOWN,
    outcomeUnknown: true,
    retryAfterSeconds: 5,
    cause,
  });
}

/**
 * Returns whether the call that failed may have had its effect, or may still have it. After any other
 * service_unavailable it has had none and will have none.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof ServiceError && error.outcomeUnknown;
}
