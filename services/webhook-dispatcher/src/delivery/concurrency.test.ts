import { expect, test } from "@jest/globals";
import { nextLimit } from "./concurrency.ts";

const delivered = { duration_ms: 20, status_code: 200 };
const failed = { duration_ms: 20, error: "http_status" } as const;

test.each([
  ["grows with fast answers", 8, delivered, 8, 9],
  ["has a maximum", 64, delivered, 64, 64],
  ["stays if it is not used", 8, delivered, 2, 8],
  ["stays with slow answers", 8, { ...delivered, duration_ms: 1_500 }, 8, 8],
  ["is halved when nothing is answered", 8, { ...failed, error: "timeout" } as const, 8, 4],
  ["is halved by a 500", 8, { ...failed, status_code: 500 }, 8, 4],
  ["is halved by a 429", 9, { ...failed, status_code: 429 }, 8, 4],
  ["stays when the event is refused", 8, { ...failed, status_code: 400 }, 8, 8],
  ["is never less than one", 1, failed, 8, 1],
])("an endpoint's concurrency %s", (_rule, limit, attempt, inFlight, expected) => {
  expect(nextLimit(limit, attempt, { inFlight, max: 64 })).toBe(expected);
});
