import { ApiError, ConnectionError, ReceiptError, TimeoutError } from "@vendor-verification/client";

/** What the program's exit code means. The README and --help list them. */
export const exitCodes = {
  ok: 0,
  /** A verification failed, a look-up found no single entity, or a receipt proves nothing. */
  negative: 1,
  /** The command line or an input file cannot be used. */
  usage: 2,
  /** The service refused the call: the key, a right, an unknown id, a conflict. */
  refused: 3,
  /** The service cannot be reached, is overloaded, or limits the key. */
  unavailable: 4,
  /** A check has no verdict because no provider answered, or a row of a file needs a review. */
  undecided: 5,
  /** A fault of this program. */
  internal: 70,
  /** Ended by Ctrl-C before it was done. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The command line, a setting or an input file cannot be used. The message says what to do. */
export class UsageError extends Error {}

/** Returns the exit code for an error that ended a command. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof ReceiptError) return exitCodes.negative;
  if (isUnavailable(error)) return exitCodes.unavailable;
  if (error instanceof ApiError) return exitCodes.refused;
  return exitCodes.internal;
}

/** Did the service not answer, for a reason that may pass? */
function isUnavailable(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true;
  return error instanceof ApiError && (error.status >= 500 || error.status === 429 || error.status === 408);
}
