import { expect, test } from "@jest/globals";
import { planAsking, type RegistryCounts } from "./asking-plan.ts";

const none = {
  vendors: 100_000,
  excluded: 0,
  lapsedRecently: 0,
  lapsedBefore: 0,
  expiredSince: 0,
  inactive: 0,
  idOnly: 0,
  gone: 0,
};
const expiring = Array.from({ length: 30 }, (_, day) => (day === 4 ? 1_180 : 80));

test.each<[string, Partial<RegistryCounts>, number, object]>([
  ["only active vendors", {}, 100_000, { average: { vendors: 0, calls: 0 }, largest: { vendors: 0, calls: 0 } }],
  [
    "expiring vendors: eleven calls for a hundred",
    { expiring },
    100_000,
    { average: { vendors: 117, calls: 14 }, largest: { vendors: 1_180, calls: 130 } },
  ],
  [
    "recently lapsed ones: every day",
    { lapsedRecently: 100 },
    100_000,
    { average: { vendors: 100, calls: 11 }, first: { vendors: 100, calls: 11 } },
  ],
  [
    "other inactive ones: every week, at first every day",
    { lapsedBefore: 300, inactive: 200, idOnly: 200 },
    100_000,
    { average: { vendors: 100, calls: 11 }, first: { vendors: 700, calls: 77 } },
  ],
  ["gone ones: two calls for a hundred", { gone: 700 }, 100_000, { average: { vendors: 100, calls: 2 } }],
  ["half of the vendors", { lapsedRecently: 200 }, 50_000, { average: { vendors: 100, calls: 11 } }],
  ["an empty registry", { vendors: 0 }, 0, { average: { vendors: 0, calls: 0 } }],
])("the plan counts %s", (_, counts, monitored, plan) => {
  expect(planAsking({ ...none, expiring: [], ...counts }, monitored)).toMatchObject(plan);
});

test("runs may use 70 % of a quota, and the plan says how many monitored vendors fit it", () => {
  const counts = { ...none, expiring: [], lapsedRecently: 10_000 };
  const { average, quotas } = planAsking(counts, 100_000);
  expect(average).toEqual({ vendors: 10_000, calls: 1_100 });
  expect(quotas).toEqual([
    { quota: 1_000, forRuns: 700, fits: false, fitsLargest: false, fitting: 63_600, fresh: 0 },
    { quota: 10_000, forRuns: 7_000, fits: true, fitsLargest: true, fitting: 100_000, fresh: 31_145 },
  ]);
});

test("the half that is kept for runs, without what they need, keeps data at most a day old", () => {
  const counts = { ...none, expiring: [], lapsedRecently: 1_000 };
  const { average, quotas, quotaForFresh } = planAsking(counts, 2_000);
  expect(average.calls).toBe(3);
  expect(quotas.map(({ fresh }) => fresh)).toEqual([2_000, 2_000]);
  // 251 calls for 2,000 vendors every 23 hours.
  expect(quotaForFresh).toBe(2 * (3 + 251));
  expect(planAsking(counts, 50_000).quotas.map(({ fresh }) => fresh)).toEqual([3_553, 39_491]);
});
