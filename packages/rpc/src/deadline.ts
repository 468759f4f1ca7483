import { currentDeadline } from "@vvs/deadline";

/** Time that each hop subtracts from its own deadline, so that the innermost service reports a timeout. */
const MARGIN_MS = 20;

/** Returns the deadline (milliseconds since 1970) of an outgoing call that may take at most `timeoutMs`. */
export function deadlineFor(timeoutMs: number): number {
  const inherited = currentDeadline()?.at ?? Number.POSITIVE_INFINITY;
  return Math.min(Date.now() + timeoutMs, inherited - MARGIN_MS);
}
