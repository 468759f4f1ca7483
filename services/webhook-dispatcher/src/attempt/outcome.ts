import type { Attempt, Delivery } from "../delivery/delivery.ts";
import { nextAttemptAt, retryAfterSeconds } from "../delivery/schedule.ts";

/** State of a delivery after an attempt. */
export type Outcome =
  | { readonly status: "delivered" | "failed" }
  | { readonly status: "pending"; readonly nextAttemptAt: Date };

/**
 * Returns what follows from an attempt, as promised in docs/webhooks.md. A test event is attempted once; after a replay
 * the schedule and its 24 h begin again.
 */
export function outcomeOf(
  delivery: Pick<Delivery, "attempts" | "test" | "window_started_at" | "schedule_step">,
  attempt: Pick<Attempt, "error" | "status_code" | "started_at">,
  more: { readonly endedAt: Date; readonly retryAfter: string | undefined; readonly random: number },
): Outcome {
  if (attempt.error === undefined) return { status: "delivered" };
  if (delivery.test) return { status: "failed" };
  const asks = attempt.status_code === 429 || attempt.status_code === 503;
  const next = nextAttemptAt({
    step: delivery.schedule_step ?? delivery.attempts.length,
    endedAt: more.endedAt,
    windowStartedAt: delivery.window_started_at ?? delivery.attempts[0]?.started_at ?? attempt.started_at,
    retryAfterSeconds: asks ? retryAfterSeconds(more.retryAfter, more.endedAt) : undefined,
    random: more.random,
  });
  return next ? { status: "pending", nextAttemptAt: next } : { status: "failed" };
}
