import { describe, expect, test } from "@jest/globals";
import type { CallClass } from "../providers/call-class.ts";
import { callsLeft, freshCallsLeft } from "./call-quota.ts";

describe("of a quota of 100 calls", () => {
  test.each<[string, CallClass, [direct: number, first: number, runs: number], number]>([
    ["direct calls may take all but what is kept for runs", "direct", [0, 0, 0], 50],
    ["first runs may take only what is kept for nobody", "first", [0, 0, 0], 20],
    ["runs may take all but what is kept for direct calls", "runs", [0, 0, 0], 70],
    ["direct calls keep 30 where first runs and runs took all they could", "direct", [0, 20, 50], 30],
    ["runs keep 50 where direct calls and first runs took all they could", "runs", [50, 0, 0], 50],
    ["first runs keep nothing", "first", [30, 0, 70], 0],
    ["runs that spent their reserve leave the rest to the others", "direct", [0, 0, 50], 50],
    ["beyond the reserves, whoever comes first takes the last call", "first", [49, 0, 50], 1],
    ["a class whose reserve is unspent is not held up by one that overspent its own", "runs", [50, 0, 49], 1],
    ["nothing is left of a spent quota", "direct", [40, 10, 50], 0],
    ["nothing is left where the quota was lowered below the calls that were made", "runs", [90, 60, 0], 0],
  ])("%s", (_name, callClass, [direct, first, runs], left) => {
    expect(callsLeft({ direct, first, runs }, callClass, 100)).toBe(left);
  });
});

test.each<[number, CallClass, number]>([
  [1, "direct", 1],
  [1, "first", 1],
  [10, "direct", 5],
  [10, "runs", 7],
  [10_000, "direct", 5_000],
  [10_000, "first", 2_000],
  [10_000, "runs", 7_000],
])("a quota of %i leaves a day's first %s calls %i", (quota, callClass, left) => {
  expect(callsLeft({ direct: 0, first: 0, runs: 0 }, callClass, quota)).toBe(left);
});

describe("only to keep data fresh", () => {
  test.each<[string, quota: number, held: number, calls: [direct: number, first: number, runs: number], number]>([
    ["half of the quota may be used", 1_000, 0, [0, 0, 0], 500],
    ["nothing beyond it, though runs may use more", 1_000, 0, [0, 0, 500], 0],
    ["what runs have used counts", 1_000, 0, [0, 0, 100], 400],
    ["what runs are expected to need is held back", 1_000, 99.5, [0, 0, 100], 300],
    ["calls of others count once they use more than their share", 1_000, 0, [700, 0, 0], 300],
    ["a rest that is no full question is left to runs", 1_000, 0, [0, 0, 488], 0],
    ["a full question is the least", 1_000, 0, [0, 0, 487], 13],
    ["a quota of 10 gives 5", 10, 0, [0, 0, 0], 5],
    ["and then what is at least half of that", 10, 0, [0, 0, 2], 3],
    ["or nothing", 10, 0, [0, 0, 3], 0],
    ["a quota of 1 gives nothing", 1, 0, [0, 0, 0], 0],
  ])("%s", (_name, quota, held, [direct, first, runs], left) => {
    expect(freshCallsLeft({ direct, first, runs }, held, quota)).toBe(left);
  });
});
