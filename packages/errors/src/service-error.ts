import { catalogue, type ErrorCode } from "./catalogue.ts";

/** One thing wrong with a request: where, and what (never the value itself, which may be secret). */
export interface Violation {
  readonly path: string;
  readonly message: string;
}

/** One reason of a match, for people who ask why. */
export interface MatchReason {
  readonly criterion: string;
  readonly outcome: string;
  readonly weight: number;
  readonly detail: string;
  /** What it is made of; weights are shares, negative where a part contradicts. */
  readonly parts?: readonly MatchPart[];
}

/** A part of a criterion, such as the ZIP code of an address. */
export interface MatchPart {
  readonly part: string;
  readonly outcome: string;
  readonly weight: number;
}

/** An entity that a look-up could mean. */
export interface Candidate {
  readonly id: string;
  readonly legalName: string;
  readonly confidence: number;
  readonly explanation?: readonly MatchReason[];
}

export interface ServiceErrorOptions {
  /** Public text; the catalogue's where absent. */
  readonly message?: string;
  readonly details?: readonly Violation[];
  readonly entityId?: string;
  readonly candidates?: readonly Candidate[];
  readonly retryAfterSeconds?: number;
  /** For logs alone; never leaves the service. */
  readonly cause?: unknown;
}

/**
 * A refusal that the caller is meant to see. Its message is public, whatever must stay inside goes into `cause`. It
 * crosses gRPC whole and becomes HTTP only at the edge.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly Violation[];
  readonly entityId: string | undefined;
  readonly candidates: readonly Candidate[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, options: ServiceErrorOptions = {}) {
    super(options.message ?? catalogue[code].text, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ServiceError";
    this.code = code;
    this.details = options.details ?? [];
    this.entityId = options.entityId;
    this.candidates = options.candidates;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** Total: what is not a refusal already becomes internal_error, its text withheld and kept as the cause. */
  static from(error: unknown): ServiceError {
    return error instanceof ServiceError ? error : new ServiceError("internal_error", { cause: error });
  }
}
