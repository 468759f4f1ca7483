import { describe, expect, test } from "@jest/globals";
import {
  activeMonitors,
  agreedBudget,
  budgetedProvider,
  createdEntities,
  limitPerMinute,
  planTerms,
  providerBudgets,
  tinFailuresPerDay,
} from "./plans.ts";

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

describe("the budgets at live providers", () => {
  test.each([
    ["starter", 1_000, { per_minute: 20, per_day: 200 }],
    ["growth", 10_000, { per_minute: 60, per_day: 1_000 }],
    ["enterprise", 100_000, { per_minute: 120, per_day: 5_000 }],
  ] as const)(
    "half of a day of %s at a TIN provider is enough for a daily run of %d monitors",
    (plan, monitors, registration) => {
      const { sam_gov_api, taxbandits, compliancely } = providerBudgets({ plan });
      expect(activeMonitors({ plan }, "live")).toBe(monitors);
      expect([taxbandits.per_day / 2, compliancely.per_day / 2]).toEqual([monitors, monitors]);
      expect(sam_gov_api).toEqual(registration);
    },
  );

  test("an agreed budget replaces that of the plan at its provider only", () => {
    const agreed = { per_minute: 7, per_day: 70 };
    const { taxbandits, ...others } = providerBudgets({ plan: "enterprise", provider_budgets: { taxbandits: agreed } });
    const { taxbandits: ofPlan, ...othersOfPlan } = providerBudgets({ plan: "enterprise" });
    expect(taxbandits).toEqual(agreed);
    expect(ofPlan).not.toEqual(agreed);
    expect(others).toEqual(othersOfPlan);
  });

  test.each([
    ["minute", { per_minute: 0, per_day: 1 }],
    ["minute", { per_minute: 1.5, per_day: 1 }],
    ["minute", { per_minute: 1_000_001, per_day: 1 }],
    ["minute", { per_minute: Number.NaN, per_day: 1 }],
    ["day", { per_minute: 1, per_day: 0 }],
    ["day", { per_minute: 1, per_day: 100_000_001 }],
  ])("an impossible %s is refused: %p", (path, budget) => {
    expect(() => agreedBudget(budget)).toThrow(
      expect.objectContaining({ code: "invalid_request", details: [expect.objectContaining({ path })] }),
    );
  });

  test("a provider without budgets is refused", () => {
    expect(budgetedProvider("taxbandits")).toBe("taxbandits");
    expect(() => budgetedProvider("sam_gov_extract")).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });
});

test("a plan allows failed TIN matches for some per cent of the vendors of a long onboarding run", () => {
  const perDay = (["starter", "growth", "enterprise"] as const).map((plan) => tinFailuresPerDay({ plan }));
  expect(perDay).toEqual([100, 1_000, 5_000]);
});
