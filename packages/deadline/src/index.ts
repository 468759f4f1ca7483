import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { isOutcomeUnknown, ServiceError } from "@vvs/errors";

/** Time before the end of a call in which no write and no commit begins; a fifth of the call if that is less. */
const LAST_MS = 1_000;

/** Maximum time that background work waits for a release. */
const RELEASE_MS = 10_000;
/** Time that a call keeps for its answer after a release. */
const ANSWER_MS = 100;

/** The times at which the call that is being served ends, in milliseconds since 1970. */
export interface Deadline {
  /** Time at which the caller stops waiting. */
  readonly at: number;
  /** Time from which no write and no commit begins, so that those that have begun can still be answered. */
  readonly writesEndAt: number;
}

const current = new AsyncLocalStorage<Deadline | undefined>();
const hangUp = new AsyncLocalStorage<AbortSignal>();

/** Returns the deadline of a call that ends at `at`, or undefined if `at` is infinite. */
export function deadlineAt(at: number): Deadline | undefined {
  const left = Math.max(0, at - Date.now());
  return Number.isFinite(at) ? { at, writesEndAt: at - Math.min(LAST_MS, left / 5) } : undefined;
}

/** Runs work under a deadline, which its calls and writes inherit. */
export function underDeadline<T>(deadline: Deadline | undefined, run: () => T): T {
  return current.run(deadline, run);
}

/**
 * Runs work that must happen even after the call was refused, such as releasing a lock, or work that outlives the call
 * that starts it. Never use it for a call's own effect.
 */
export function withoutDeadline<T>(run: () => T): T {
  return current.run(undefined, run);
}

/**
 * Runs work that releases something the call holds, even if its time for writes is over. Waits for it no longer than
 * the call's deadline allows, so that a store that hangs does not delay the answer. Errors are ignored: a failed
 * release must be corrected by other means, such as the expiry of a lease.
 */
export async function release(work: () => Promise<unknown>): Promise<void> {
  const answered = new AbortController();
  const deadline = currentDeadline();
  const longestMs = deadline ? Math.max(0, deadline.at - ANSWER_MS - Date.now()) : RELEASE_MS;
  const released = withoutDeadline(work).catch(() => undefined);
  await Promise.race([released, wait(longestMs, undefined, answered).catch(() => undefined)]);
  answered.abort();
}

/** Returns the deadline of the call that is being served; undefined in background work. */
export function currentDeadline(): Deadline | undefined {
  return current.getStore();
}

/** Runs work for a caller whose hanging up aborts `signal`. */
export function forCaller<T>(signal: AbortSignal, run: () => T): T {
  return hangUp.run(signal, run);
}

/**
 * Returns the signal that aborts when the caller being served hangs up; undefined in background work. Only for work that
 * is worth nothing without its caller: a write that has begun is not undone.
 */
export function callerHangUp(): AbortSignal | undefined {
  return hangUp.getStore();
}

/** Returns the earliest of several deadlines; undefined if none is defined. */
export function earliest(deadlines: readonly (Deadline | undefined)[]): Deadline | undefined {
  return deadlines.reduce(
    (first, each) => (each && (!first || each.writesEndAt < first.writesEndAt) ? each : first),
    undefined,
  );
}

/** Returns whether it is too late for a write of this call to begin. */
export function isTooLate(deadline: Deadline | undefined): boolean {
  return deadline !== undefined && Date.now() >= deadline.writesEndAt;
}

/** Returns for how many milliseconds to set a timer that must not fire before `at`: timers fire up to one too early. */
export function timerMs(at: number): number {
  return Math.max(0, Math.ceil(at - Date.now()) + 1);
}

/** Returns the refusal of a call whose time is over: it has had no effect and will have none. */
export function tooLate(cause?: unknown): ServiceError {
  return new ServiceError("service_unavailable", { retryAfterSeconds: 1, cause });
}

/**
 * Throws the error of a write that precedes a call's effect. An unknown outcome of that write becomes a certain
 * refusal.
 */
export function notTheEffect(error: unknown): never {
  throw isOutcomeUnknown(error) ? tooLate(error) : error;
}
