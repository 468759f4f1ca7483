import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { catalogue, isErrorCode, outcomeUnknown, ServiceError } from "@vvs/errors";
import { ServiceErrorSchema, type ServiceError as WireError } from "@vvs/proto/common/v1/common";

const TRAILER = "vvs-error-bin";

/** Returns the status and trailer that carry a complete refusal over gRPC, without its cause. Never fails. */
export function toStatus(error: ServiceError): Partial<grpc.StatusObject> & { code: grpc.status } {
  const text = error.message.toWellFormed(); // grpc-js can't encode half a surrogate pair
  const message = create(ServiceErrorSchema, {
    code: error.code,
    message: text,
    details: error.details.map((detail) => ({ ...detail })),
    entityId: error.entityId,
    candidates: error.candidates && [...error.candidates],
    retryAfterSeconds: error.retryAfterSeconds && Math.ceil(error.retryAfterSeconds),
    outcomeUnknown: error.outcomeUnknown,
  });
  const metadata = new grpc.Metadata();
  metadata.set(TRAILER, Buffer.from(toBinary(ServiceErrorSchema, message)));
  return { code: catalogue[error.code].grpc, details: text, metadata };
}

/**
 * Returns the refusal in a status; service_unavailable if the server does not answer; else internal_error. Never fails.
 * With `mayHaveHappened`, a call without an answer has an unknown outcome.
 */
export function fromStatus(error: unknown, mayHaveHappened: boolean): ServiceError {
  const { code, metadata } = error as Partial<grpc.ServiceError>;
  const message = decodeTrailer(metadata?.get(TRAILER)[0]);
  if (message) {
    return new ServiceError(isErrorCode(message.code) ? message.code : "internal_error", {
      message: message.message,
      details: message.details,
      entityId: message.entityId || undefined,
      candidates: message.candidates.length > 0 ? message.candidates : undefined,
      retryAfterSeconds: message.retryAfterSeconds || undefined,
      outcomeUnknown: message.outcomeUnknown,
      cause: error,
    });
  }
  if (code === grpc.status.UNAVAILABLE || code === grpc.status.DEADLINE_EXCEEDED || code === grpc.status.CANCELLED) {
    return mayHaveHappened
      ? outcomeUnknown(error)
      : new ServiceError("service_unavailable", { retryAfterSeconds: 1, cause: error });
  }
  return new ServiceError("internal_error", { cause: error });
}

/** Returns whether a call failed because its server went down, rather than by a refusal of the server. */
export function isUnanswered({ code, metadata }: Partial<grpc.ServiceError>): boolean {
  return code === grpc.status.UNAVAILABLE && decodeTrailer(metadata?.get(TRAILER)[0]) === undefined;
}

function decodeTrailer(trailer: grpc.MetadataValue | undefined): WireError | undefined {
  if (!Buffer.isBuffer(trailer)) return undefined;
  try {
    return fromBinary(ServiceErrorSchema, trailer);
  } catch {
    return undefined; // not written by us: only the status counts
  }
}
