import { expect, test } from "@jest/globals";
import { type BudgetClass, isSpent, maxPerOrganization, type OrganizationCalls } from "./budget.ts";

const day = new Date("2026-11-21T00:00:00Z");
const minute = new Date("2026-11-21T09:30:00Z");
test.each<[string, BudgetClass, Partial<OrganizationCalls>, string, boolean]>([
  ["calls are left", "direct", {}, "2026-11-21T09:30:10Z", false],
  ["the minute's calls are made", "direct", { minute_calls: 3 }, "2026-11-21T09:30:59.999Z", true],
  ["the next minute has begun", "direct", { minute_calls: 3 }, "2026-11-21T09:31:00Z", false],
  [
    "another replica counts in the next minute already",
    "direct",
    { minute_calls: 3 },
    "2026-11-21T09:29:59.999Z",
    true,
  ],
  ["the minute is for direct calls", "monitors", { minute_calls: 3 }, "2026-11-21T09:30:10Z", false],
  ["the day's calls are made", "direct", { direct: 5 }, "2026-11-21T23:59:59.999Z", true],
  ["the next day has begun", "direct", { direct: 5, minute_calls: 3 }, "2026-11-22T00:00:00Z", false],
])("%s", (_name, budgetClass, changes, at, expected) => {
  const calls = { day, minute, direct: 0, monitors: 0, minute_calls: 0, ...changes };
  expect(isSpent(calls, budgetClass, { perMinute: 3, perDay: 10 }, new Date(at))).toBe(expected);
});

test.each([
  [undefined, 20, undefined],
  [10_000, 20, 2_000],
  [10, 20, 2],
  [10, 1, 1],
  [1_000, 100, 1_000],
])("of a quota of %p, %d %% is %p calls", (quota, percent, expected) => {
  expect(maxPerOrganization(quota, percent)).toBe(expected);
});
