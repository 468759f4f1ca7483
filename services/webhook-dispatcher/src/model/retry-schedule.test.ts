import { describe, expect, test } from "@jest/globals";
import type { Attempt } from "./delivery.ts";
import { heldUntil, isUrgent, outcomeOf, retryAfterSeconds } from "./retry-schedule.ts";

const start = new Date("2026-11-21T09:00:00.000Z");
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const attemptAt = (at: number, more: Partial<Attempt> = {}): Attempt => ({
  number: 1,
  started_at: after(at),
  duration_ms: 0,
  status_code: 500,
  error: "http_status",
  answer_excerpt: "",
  ...more,
});
const before = (count: number) => Array.from({ length: count }, (_, index) => attemptAt(index));
const pendingUntil = (seconds: number) => ({ status: "pending", nextAttemptAt: after(seconds) });
const failed = { status: "failed" };

describe("the next attempt", () => {
  /** Returns what follows from a failed attempt of a delivery whose first attempt began at `start`. */
  const next = (step: number, { endedAt = start, random = 0.5, retryAfter = undefined as string | undefined } = {}) =>
    outcomeOf({ attempts: before(step) }, attemptAt(0, { status_code: 503 }), { endedAt, retryAfter, random });

  test.each([
    [1, 5],
    [2, 30],
    [3, 120],
    [4, 600],
    [5, 1_800],
    [6, 3_600],
    [7, 7_200],
    [8, 14_400],
    [9, 21_600],
    [10, 32_400],
  ])("follows attempt %i after %i s", (number, seconds) => {
    expect(next(number - 1)).toEqual(pendingUntil(seconds));
  });

  test.each([
    [0, 4.5],
    [1, 5.5],
  ])("is spread by 10 %% (random %f)", (random, seconds) => {
    expect(next(0, { random })).toEqual(pendingUntil(seconds));
  });

  test("does not follow the eleventh", () => {
    expect(next(10, { endedAt: after(80_000) })).toEqual(failed);
  });

  test("is made at 24 h if it would be later, and none follows it", () => {
    expect(next(9, { endedAt: after(60_000) })).toEqual(pendingUntil(86_400));
    expect(next(8, { endedAt: after(86_400) })).toEqual(failed);
  });

  test("waits as long as the subscriber asks, if that is longer, up to an hour", () => {
    expect(next(0, { retryAfter: "40" })).toEqual(pendingUntil(40));
    expect(next(0, { retryAfter: "2" })).toEqual(pendingUntil(5));
    expect(next(0, { retryAfter: "86400" })).toEqual(pendingUntil(3_600));
  });
});

test.each<[string, Parameters<typeof outcomeOf>[0], Attempt, string | undefined, object]>([
  ["a 2xx delivers", { attempts: [] }, attemptAt(0, { error: undefined }), undefined, { status: "delivered" }],
  ["Retry-After of a 429 is followed", { attempts: [] }, attemptAt(0, { status_code: 429 }), "60", pendingUntil(60)],
  ["Retry-After of a 500 is ignored", { attempts: [] }, attemptAt(0), "60", pendingUntil(5)],
  ["a test is not retried", { attempts: [], test: true }, attemptAt(0), undefined, failed],
  [
    "after a replay the schedule begins again",
    { attempts: before(11), schedule_step: 0, window_started_at: after(100_000) },
    attemptAt(100_001),
    undefined,
    pendingUntil(100_006),
  ],
  [
    "after a replay the 24 h begin again",
    { attempts: before(20), schedule_step: 9, window_started_at: after(100_000) },
    attemptAt(180_000),
    undefined,
    pendingUntil(186_400),
  ],
])("%s", (_rule, delivery, attempt, retryAfter, expected) => {
  expect(outcomeOf(delivery, attempt, { endedAt: attempt.started_at, retryAfter, random: 0.5 })).toEqual(expected);
});

test.each([
  [undefined, undefined],
  ["120", 120],
  ["Sat, 21 Nov 2026 09:00:30 GMT", 30],
  ["Sat, 21 Nov 2026 08:00:00 GMT", 0],
  ["soon", undefined],
  ["-5", undefined],
])("Retry-After %j asks for %j seconds", (header, seconds) => {
  expect(retryAfterSeconds(header, start)).toBe(seconds);
});

test.each([
  [0, 240, false],
  [100, 240, false],
  [239.5, 240.5, false],
  [240, 241, true],
  [400, 401, true],
])("%f s after it was due, an attempt may be held until %f s after it was due; urgent: %j", (at, until, urgent) => {
  expect(heldUntil(start, after(at))).toEqual(after(until));
  expect(isUrgent(start, after(at))).toBe(urgent);
});
