import { types } from "node:util";

/** An error as it is logged. */
export interface ErrorDescription {
  readonly type?: string;
  readonly message: string;
  readonly code?: string | number;
  readonly stack?: string;
  readonly cause?: ErrorDescription;
  /** Errors of an AggregateError. */
  readonly errors?: readonly ErrorDescription[];
}

const MAX_DEPTH = 8;

/**
 * Describes an error with its causes, and nothing else: libraries attach documents, replies and headers to their
 * errors, and those must not be logged.
 */
export function describeError(error: unknown, depth = 1): ErrorDescription {
  if (!types.isNativeError(error)) return { message: String(error) };
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...((typeof code === "string" || typeof code === "number") && { code }),
    stack: error.stack,
    ...(depth < MAX_DEPTH && {
      ...(error.cause !== undefined && { cause: describeError(error.cause, depth + 1) }),
      ...(Array.isArray(errors) && { errors: errors.slice(0, MAX_DEPTH).map((one) => describeError(one, depth + 1)) }),
    }),
  };
}
