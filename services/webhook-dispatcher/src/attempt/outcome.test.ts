import { expect, test } from "@jest/globals";
import type { Attempt } from "../delivery/delivery.ts";
import { outcomeOf } from "./outcome.ts";

const start = new Date("2026-11-21T09:00:00.000Z");
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const attemptAt = (at: number, more: Partial<Attempt> = {}): Attempt => ({
  number: 1,
  started_at: later(at),
  duration_ms: 0,
  status_code: 500,
  error: "http_status",
  answer_excerpt: "",
  ...more,
});
const before = (count: number) => Array.from({ length: count }, (_, index) => attemptAt(index));
const pendingUntil = (seconds: number) => ({ status: "pending", nextAttemptAt: later(seconds) });
const failed = { status: "failed" };
type Case = [string, Parameters<typeof outcomeOf>[0], Attempt, string | undefined, object];

test.each<Case>([
  ["a 2xx delivers", { attempts: [] }, attemptAt(0, { error: undefined }), undefined, { status: "delivered" }],
  ["a first failure is followed after 5 s", { attempts: [] }, attemptAt(0), undefined, pendingUntil(5)],
  ["a third failure is followed after 2 min", { attempts: before(2) }, attemptAt(100), undefined, pendingUntil(220)],
  ["an eleventh failure is followed by nothing", { attempts: before(10) }, attemptAt(80_000), undefined, failed],
  ["a failure at 24 h is followed by nothing", { attempts: before(5) }, attemptAt(86_400), undefined, failed],
  ["Retry-After of a 429 is followed", { attempts: [] }, attemptAt(0, { status_code: 429 }), "60", pendingUntil(60)],
  ["Retry-After of a 500 is ignored", { attempts: [] }, attemptAt(0), "60", pendingUntil(5)],
  ["a test is not retried", { attempts: [], test: true }, attemptAt(0), undefined, failed],
  [
    "after a replay the schedule begins again",
    { attempts: before(11), schedule_step: 0, window_started_at: later(100_000) },
    attemptAt(100_001),
    undefined,
    pendingUntil(100_006),
  ],
  [
    "and so do its 24 h",
    { attempts: before(20), schedule_step: 9, window_started_at: later(100_000) },
    attemptAt(180_000),
    undefined,
    pendingUntil(186_400),
  ],
])("%s", (_rule, delivery, attempt, retryAfter, expected) => {
  expect(outcomeOf(delivery, attempt, { endedAt: attempt.started_at, retryAfter, random: 0.5 })).toEqual(expected);
});
