import { expect, test } from "@jest/globals";
import { mayRepeat, readRetryAfter, retryWaitMs } from "./retry.ts";

test.each([
  [undefined, undefined, true, false],
  [400, "invalid_request", false, false],
  [401, "unauthorized", false, false],
  [403, "limit_exceeded", false, false],
  [404, "entity_not_found", false, false],
  [408, "invalid_request", true, false],
  [409, "entity_exists", false, false],
  [409, "idempotency_conflict", true, false],
  [422, "idempotency_mismatch", false, false],
  [429, "rate_limited", true, true],
  [500, "internal_error", true, false],
  [502, "unknown", true, false],
  [503, "service_unavailable", true, false],
  [504, "unknown", true, false],
])("after %p %p an operation without a second effect is repeated: %p, any other: %p", (status, code, safe, other) => {
  expect([mayRepeat("always", { status, code }), mayRepeat("if-refused", { status, code })]).toEqual([safe, other]);
});

test.each([
  [1, undefined, 0, 0],
  [1, undefined, 1, 250],
  [3, undefined, 0.5, 500],
  [5_000, undefined, 1, 8_000],
  [1, 7, 0, 7_000],
  [1, 7, 1, 7_250],
])(
  "after %p failures and Retry-After %p, a random number of %p waits %p ms",
  (failures, retryAfterSeconds, random, ms) => {
    expect(retryWaitMs(failures, { retryAfterSeconds }, () => random)).toBe(ms);
  },
);

test.each([
  [null, undefined],
  ["12", 12],
  ["Sat, 21 Nov 2026 09:30:10 GMT", 10],
  ["Sat, 21 Nov 2026 09:29:00 GMT", 0],
  ["soon", undefined],
])("Retry-After %p is %p seconds", (value, seconds) => {
  expect(readRetryAfter(value, new Date("2026-11-21T09:30:00.000Z"))).toBe(seconds);
});
