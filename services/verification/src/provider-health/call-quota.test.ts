import { describe, expect, test } from "@jest/globals";
import { freshCallsLeft } from "./call-quota.ts";

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
