import { expect, test } from "@jest/globals";
import { axisTop } from "./plot.ts";

test.each([
  [0, 2],
  [1, 2],
  [3, 4],
  [10, 10],
  [11, 12],
  [96, 100],
  [100, 100],
  [116, 120],
  [207, 240],
  [4_668, 5_000],
  [8_001, 10_000],
])("the axis of values up to %d ends at %d", (most, top) => {
  expect(axisTop(most)).toBe(top);
});
