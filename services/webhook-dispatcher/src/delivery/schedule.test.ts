import { describe, expect, test } from "@jest/globals";
import { nextAttemptAt, retryAfterSeconds } from "./schedule.ts";

const windowStartedAt = new Date("2026-11-21T09:00:00.000Z");
const after = (seconds: number) => new Date(windowStartedAt.getTime() + seconds * 1000);
const failed = { step: 0, endedAt: windowStartedAt, windowStartedAt, retryAfterSeconds: undefined, random: 0.5 };

describe("the next attempt", () => {
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
    expect(nextAttemptAt({ ...failed, step: number - 1 })).toEqual(after(seconds));
  });

  test.each([
    [0, 4.5],
    [1, 5.5],
  ])("is spread by 10 %% (random %f)", (random, seconds) => {
    expect(nextAttemptAt({ ...failed, random })).toEqual(after(seconds));
  });

  test("does not follow the eleventh", () => {
    expect(nextAttemptAt({ ...failed, step: 10, endedAt: after(80_000) })).toBeUndefined();
  });

  test("is made at 24 h where it would be later, and none follows it", () => {
    expect(nextAttemptAt({ ...failed, step: 9, endedAt: after(60_000) })).toEqual(after(86_400));
    expect(nextAttemptAt({ ...failed, step: 8, endedAt: after(86_400) })).toBeUndefined();
  });

  test("waits as long as the subscriber asks, where that is longer, up to an hour", () => {
    expect(nextAttemptAt({ ...failed, retryAfterSeconds: 40 })).toEqual(after(40));
    expect(nextAttemptAt({ ...failed, retryAfterSeconds: 2 })).toEqual(after(5));
    expect(nextAttemptAt({ ...failed, retryAfterSeconds: 86_400 })).toEqual(after(3_600));
  });
});

test.each([
  [undefined, undefined],
  ["120", 120],
  ["Sat, 21 Nov 2026 09:00:30 GMT", 30],
  ["Sat, 21 Nov 2026 08:00:00 GMT", 0],
  ["soon", undefined],
  ["-5", undefined],
])("Retry-After %j asks for %j seconds", (header, seconds) => {
  expect(retryAfterSeconds(header, windowStartedAt)).toBe(seconds);
});
