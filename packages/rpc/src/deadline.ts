import { AsyncLocalStorage } from "node:async_hooks";

/** What each hop takes off the deadline it was given, so that the innermost service is the one that reports a timeout. */
const MARGIN_MS = 20;

const current = new AsyncLocalStorage<number>();

/** Runs a handler under its call's deadline (milliseconds since 1970); calls it makes inherit it, less a margin. */
export function underDeadline<T>(deadline: number, run: () => T): T {
  return current.run(deadline, run);
}

/** The deadline of an outgoing call that may take so long by itself. */
export function deadlineFor(timeoutMs: number): number {
  const inherited = current.getStore() ?? Number.POSITIVE_INFINITY;
  return Math.min(Date.now() + timeoutMs, inherited - MARGIN_MS);
}
