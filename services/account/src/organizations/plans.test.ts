import { describe, expect, test } from "@jest/globals";
import { activeMonitors, createdEntities, limitPerMinute, planTerms } from "./plans.ts";

describe("the requests per minute of a plan", () => {
  test.each([
    ["starter", undefined, 100],
    ["growth", undefined, 500],
    ["enterprise", 1, 1],
    ["enterprise", 12_000, 12_000],
  ])("%s with a limit of %p is %d", (plan, limit, expected) => {
    expect(limitPerMinute(planTerms(plan, limit))).toBe(expected);
  });

  test.each([
    ["starter", 200, "limit"],
    ["growth", 500, "limit"],
    ["enterprise", undefined, "limit"],
    ["enterprise", 0, "limit"],
    ["enterprise", 1.5, "limit"],
    ["enterprise", Number.NaN, "limit"],
    ["enterprise", 1_000_001, "limit"],
    ["gold", undefined, "plan"],
    ["", 5, "plan"],
  ])("%s with a limit of %p is refused at %s", (plan, limit, path) => {
    expect(() => planTerms(plan, limit)).toThrow(
      expect.objectContaining({ code: "invalid_request", details: [expect.objectContaining({ path })] }),
    );
  });
});

test.each([
  ["starter", undefined, 1_000],
  ["growth", undefined, 10_000],
  ["enterprise", 7_000, 100_000],
])("%s has its number of active monitors in live, and every plan has 100 in the sandbox", (plan, limit, live) => {
  const terms = planTerms(plan, limit);
  expect([activeMonitors(terms, "live"), activeMonitors(terms, "sandbox")]).toEqual([live, 100]);
});

test.each([
  ["starter", 25_000],
  ["growth", 250_000],
  ["enterprise", 1_000_000],
] as const)("%s can create %d entities in live; in the sandbox the entity service has the limit", (plan, live) => {
  expect([createdEntities({ plan }, "live"), createdEntities({ plan }, "sandbox")]).toEqual([live, 0]);
});
