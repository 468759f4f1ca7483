import type { Attempt, Delivery } from "./delivery.ts";

/** Seconds from a failed attempt to the next one, as promised in docs/webhooks.md. */
const DELAYS_SECONDS = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 21_600, 32_400];
const JITTER = 0.1;
const RETRY_AFTER_CAP_SECONDS = 3_600;
const WINDOW_SECONDS = 24 * 3_600;
/** Longest time for which an attempt is held, in milliseconds: 5 minutes are promised, and this leaves some to spare. */
export const LONGEST_HOLD_MS = 4 * 60_000;

/** State of a delivery after an attempt. */
export type Outcome =
  | { readonly status: "delivered" | "failed" }
  | { readonly status: "pending"; readonly nextAttemptAt: Date };

/**
 * Returns what follows from an attempt. A test event is attempted once. A failed attempt is followed by the next one after
 * the schedule's delay ± 10 %, or later if the subscriber asks for it by Retry-After of a 429 or 503 (at most 1 h), but
 * never later than 24 h after the first. After a replay the schedule and its 24 h begin again. `random` is 0–1.
 */
export function outcomeOf(
  delivery: Pick<Delivery, "attempts" | "test" | "window_started_at" | "schedule_step">,
  attempt: Pick<Attempt, "error" | "status_code" | "started_at">,
  more: { readonly endedAt: Date; readonly retryAfter: string | undefined; readonly random: number },
): Outcome {
  if (attempt.error === undefined) return { status: "delivered" };
  const delay = DELAYS_SECONDS[delivery.schedule_step ?? delivery.attempts.length];
  const windowStartedAt = delivery.window_started_at ?? delivery.attempts[0]?.started_at ?? attempt.started_at;
  const lastAt = windowStartedAt.getTime() + WINDOW_SECONDS * 1_000;
  const endedAt = more.endedAt.getTime();
  if (delivery.test || delay === undefined || endedAt >= lastAt) return { status: "failed" };
  const jittered = delay * (1 - JITTER + 2 * JITTER * more.random);
  const mayAsk = attempt.status_code === 429 || attempt.status_code === 503;
  const requested = (mayAsk && retryAfterSeconds(more.retryAfter, more.endedAt)) || 0;
  const seconds = Math.max(jittered, Math.min(requested, RETRY_AFTER_CAP_SECONDS));
  return { status: "pending", nextAttemptAt: new Date(Math.min(endedAt + seconds * 1_000, lastAt)) };
}

/** Checked first, as Date.parse accepts almost anything. */
const HTTP_DATE = /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Returns the seconds of a Retry-After header (RFC 9110 §10.2.3); undefined if it is not valid. */
export function retryAfterSeconds(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(header)) return Number(header);
  const at = HTTP_DATE.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now.getTime()) / 1_000));
}

/** Returns until when an attempt that was due at `dueAt` may be held; always later than now. */
export function heldUntil(dueAt: Date, now: Date): Date {
  return new Date(Math.max(dueAt.getTime() + LONGEST_HOLD_MS, now.getTime() + 1_000));
}

/** Returns whether the attempt may no longer be held. */
export function isUrgent(dueAt: Date, now: Date): boolean {
  return now.getTime() - dueAt.getTime() >= LONGEST_HOLD_MS;
}

/** An attempt and what follows from it. */
export interface AttemptResult {
  readonly delivery: Delivery;
  readonly attempt: Attempt;
  readonly outcome: Outcome;
}
