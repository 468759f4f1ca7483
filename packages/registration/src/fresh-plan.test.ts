import { expect, test } from "@jest/globals";
import { planFreshness } from "./fresh-plan.ts";

const HOUR_MS = 3_600_000;
const [hourly, daily, weekly] = [(HOUR_MS * 5) / 6, 23 * HOUR_MS, 167 * HOUR_MS];

test.each<[string, [everyMs: number, vendors: number][], number, number | undefined, object]>([
  [
    "with half of a quota",
    [[daily, 60_000]],
    0,
    undefined,
    {
      quotas: [
        { daily: 1_000, fresh: 3_993 },
        { daily: 10_000, fresh: 39_930 },
      ],
      dailyForAll: 15_028,
    },
  ],
  [
    "without the calls that runs need, also with the configured quota",
    [[daily, 60_000]],
    400,
    2_000,
    {
      quotas: [
        { daily: 1_000, fresh: 798 },
        { daily: 2_000, fresh: 4_791 },
        { daily: 10_000, fresh: 36_736 },
      ],
      dailyForAll: 15_828,
    },
  ],
  [
    "hourly ones first: each costs as much as 200 weekly ones",
    [
      [hourly, 100],
      [weekly, 1_000_000],
    ],
    0,
    1_000,
    {
      quotas: [
        { daily: 1_000, fresh: 100 + 8_953 },
        { daily: 10_000, fresh: 100 + 269_890 },
      ],
    },
  ],
  ["none where runs need all", [[daily, 10]], 6_000, 1_000, { quotas: [{ fresh: 0 }, { fresh: 0 }] }],
])("vendors are kept fresh %s", (_, kept, callsForRuns, quota, plan) => {
  const vendors = kept.map(([everyMs, count]) => ({ vendors: count, everyMs }));
  expect(planFreshness(vendors, { callsForRuns, quota })).toMatchObject(plan);
});
