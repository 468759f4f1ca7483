import { expect, test } from "@jest/globals";
import { callsForAbsent, callsForRegistered } from "./asking-cost.ts";

test.each([
  [0, 0, 0],
  [1, 0, 1],
  [100, 0, 10],
  [101, 0, 11],
  [100, 3, 11],
  [1_000, 40, 106],
  [1, 1, 1],
])("%p registered vendors, of whom %p no longer are, cost %p calls", (vendors, missing, calls) => {
  expect(callsForRegistered(vendors, missing)).toBe(calls);
});

test.each([
  [0, 0],
  [1, 2],
  [100, 2],
  [101, 4],
])("%p vendors without a registration cost %p calls", (vendors, calls) => {
  expect(callsForAbsent(vendors)).toBe(calls);
});
