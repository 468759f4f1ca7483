import { expect, test } from "@jest/globals";
import { durationClass } from "./durations.ts";

test.each([
  [0, 0],
  [0.99, 0],
  [1, 1],
  [1.99, 1],
  [2, 2],
  [100, 7],
  [16_383, 14],
  [16_384, 15],
  [1e9, 15],
])("%d ms are counted in bucket %d", (durationMs, place) => {
  expect(durationClass(durationMs)).toBe(place);
});
