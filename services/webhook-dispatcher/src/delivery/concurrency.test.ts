import { expect, test } from "@jest/globals";
import { nextLimit } from "./concurrency.ts";

const delivered = { delivered: true, durationMs: 20, statusCode: 200, inFlight: 8, max: 64 };
const failed = { delivered: false, durationMs: 20, inFlight: 8, max: 64 };

test.each([
  ["grows with fast answers", 8, delivered, 9],
  ["has a maximum", 64, { ...delivered, inFlight: 64 }, 64],
  ["stays where it is not used", 8, { ...delivered, inFlight: 2 }, 8],
  ["stays with slow answers", 8, { ...delivered, durationMs: 1_500 }, 8],
  ["is halved when nothing is answered", 8, failed, 4],
  ["is halved by a 500", 8, { ...failed, statusCode: 500 }, 4],
  ["is halved by a 429", 9, { ...failed, statusCode: 429 }, 4],
  ["stays when the event is refused", 8, { ...failed, statusCode: 400 }, 8],
  ["is never less than one", 1, failed, 1],
])("an endpoint's concurrency %s", (_rule, limit, ended, expected) => {
  expect(nextLimit(limit, ended)).toBe(expected);
});
