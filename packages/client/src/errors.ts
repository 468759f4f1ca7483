import type { Candidate, Error as ErrorBody } from "./types.ts";

/** Base class of every error that a call throws, except for the reason of a signal that the caller aborted. */
export class VendorVerificationError extends Error {
  /**
   * The Idempotency-Key of the call, where it had one. If it is unknown whether the call took effect, repeat the call
   * with this key.
   */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, options: { idempotencyKey?: string | undefined; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.idempotencyKey = options.idempotencyKey;
  }
}

/** One problem of a refused request. */
export interface Problem {
  /** Field of the body, parameter or header. */
  readonly path: string;
  readonly message: string;
}

/** The service refused the call or could not answer it. */
export class ApiError extends VendorVerificationError {
  /** HTTP status. */
  readonly status: number;
  /** Error code; `unknown` if the answer did not come from the service but from something before it. */
  readonly code: string;
  /** Names the request in the service's logs. */
  readonly requestId: string | undefined;
  /** Where the reference page of the service explains the error. */
  readonly docUrl: string | undefined;
  /** Every problem of an invalid request; empty for other errors. */
  readonly details: readonly Problem[];
  /** With `entity_exists`: the entity that already carries an identifier. */
  readonly entityId: string | undefined;
  /** With `ambiguous_match`: the entities that fit. */
  readonly candidates: readonly Candidate[];
  /** How long the service asks to wait before the next attempt, in seconds. */
  readonly retryAfterSeconds: number | undefined;

  constructor(options: {
    status: number;
    headers: Headers;
    /** The parsed body; undefined if it was not JSON. */
    body: unknown;
    retryAfterSeconds: number | undefined;
    idempotencyKey: string | undefined;
  }) {
    const { status, headers, retryAfterSeconds, idempotencyKey } = options;
    const body = (isObject(options.body) ? options.body : {}) as { readonly [Field in keyof ErrorBody]?: unknown };
    const otherForm = `The server answered ${status}, but not in the form of the service. Check the address.`;
    super(textOf(body.message) ?? otherForm, { idempotencyKey });
    this.status = status;
    this.code = textOf(body.error) ?? "unknown";
    this.requestId = textOf(body.request_id) ?? headers.get("x-request-id") ?? undefined;
    this.docUrl = textOf(body.doc_url);
    this.details = itemsOf(body.details);
    this.entityId = textOf(body.entity_id);
    this.candidates = itemsOf(body.candidates);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** No usable answer arrived: no connection, a connection that broke, or a body that is not JSON. */
export class ConnectionError extends VendorVerificationError {}

/** An attempt, or the call with all its attempts, took too long. */
export class TimeoutError extends VendorVerificationError {}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function itemsOf<Item>(value: unknown): readonly Item[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
