import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, expect, test } from "@jest/globals";
import { CheckType } from "@vvs/proto/common/v1/common";
import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import type { GetSamGovCallsResponseSchema } from "@vvs/proto/verification/v1/sam_gov_calls";
import { dashboardPerTest, type Page } from "../testing/dashboard.ts";

const PATH = "/live/providers/sam_gov_api/calls";
const found = {
  quota: {
    daily: 10_000,
    reserved: { direct: 3_000, first: 0, runs: 5_000 },
    left: { direct: 1_766, first: 1_666, runs: 5_432 },
    mostForRuns: 7_000,
  },
  days: [
    { day: "2026-11-22", calls: { direct: 1_234, first: 100, runs: 234 }, planned: 4_321, vendorsAsked: 2_222 },
    { day: "2026-11-21", calls: { direct: 1, first: 2, runs: 3_000 }, vendorsAsked: 29_000 },
  ],
  queue: {
    waitingRuns: 1_204,
    readyRuns: 3,
    oldestAt: timestampFromDate(new Date("2026-11-21T07:41:46Z")),
    questions: 1_100,
    plannedTomorrow: 7_000,
  },
} satisfies MessageInitShape<typeof GetSamGovCallsResponseSchema>;

const { dashboard, visitor } = dashboardPerTest();
beforeEach(() => {
  dashboard.state.isOperator = true;
  dashboard.state.samGovCalls = found;
});

/** Returns the texts of a page's tags, separated by bars. */
const textsOf = ({ text }: Page) => text.replaceAll(/\s*(<[^>]*>\s*)+/g, "|");

test("an operator sees today's numbers, and what was planned and spent on each day", async () => {
  const page = await visitor.get(PATH);
  expect(page.status).toBe(200);
  const texts = textsOf(page);
  for (const part of [
    "|Quota|10,000 calls a day|",
    "|Direct calls|1,234 spent, 1,766 left (3,000 a day are reserved)|",
    "|First runs of monitors|100 spent, 1,666 left|",
    "|Later runs of monitors|234 spent, 5,432 left (5,000 a day are reserved)|",
    "|Planned for later runs|4,321|",
    "|Runs waiting|1,204 for an answer, 3 with an answer|",
    "|Oldest waiting since|2026-11-21 07:41 UTC|",
    "|Planned for tomorrow|7,000 calls|",
    "|2026-11-22|4,321|234|100|1,234|1,568|2,222|",
    "|2026-11-21|none|3,000|2|1|3,003|29,000|",
  ]) {
    expect(texts).toContain(part);
  }
  expect(texts).not.toContain("does not fit");
});

test("a plan for tomorrow that exceeds what runs may use is announced", async () => {
  dashboard.state.samGovCalls = { ...found, queue: { ...found.queue, plannedTomorrow: 7_001 } };
  expect((await visitor.get(PATH)).text).toContain(
    "Tomorrow’s plan does not fit: later runs need 7,001 calls, and may use 7,000 of 10,000.",
  );
});

test("an operator sees which organizations call the most, and which of them are out of budget", async () => {
  const organizations = [
    { organizationId: "org_1", direct: 1_000, directLeft: 0, first: 7, firstLeft: 493 },
    { organizationId: "org_2", direct: 12, first: 0 },
  ];
  dashboard.state.samGovCalls = { ...found, organizations };
  const texts = textsOf(await visitor.get(PATH));
  expect(texts).toContain("|org_1|out of budget|1,000 spent, 0 left|7 spent, 493 left|");
  expect(texts).toContain("|org_2|12 spent|0 spent|");
});

test("an operator sees how fresh the data of monitored vendors is, and what more quota would buy", async () => {
  expect((await visitor.get(PATH)).text).not.toContain("How fresh");
  const freshness = {
    countedAt: timestampFromDate(new Date("2026-11-22T09:00:00Z")),
    watched: [
      { frequency: Frequency.HOURLY, vendors: 10, hourOld: 9, dayOld: 10, weekOld: 10, monthOld: 10 },
      { frequency: Frequency.DAILY, vendors: 60_000, hourOld: 100, dayOld: 36_000, weekOld: 41_000, monthOld: 59_999 },
      { frequency: Frequency.WEEKLY },
      { frequency: Frequency.MONTHLY, vendors: 3, monthOld: 2 },
    ],
    quotas: [
      { daily: 1_000, fresh: 3_913 },
      { daily: 10_000, fresh: 39_000 },
    ],
    dailyForAll: 15_360,
  };
  dashboard.state.samGovCalls = { ...found, freshness };
  const texts = textsOf(await visitor.get(PATH));
  for (const part of [
    "|Of 60,013 vendors, 36,011 (60 %) have registration data that is at most as old as the frequency of their monitors. Counted|2026-11-22 09:00 UTC|",
    "|hourly|10|9 (90 %)|10 (100 %)|10 (100 %)|10 (100 %)|",
    "|daily|60,000|36,000 (60 %)|36,000 (60 %)|41,000 (68 %)|59,999 (99 %)|",
    "|monthly|3|2 (66 %)|0 (0 %)|0 (0 %)|2 (66 %)|",
    "|1,000|3,913 (6 %)|",
    "|10,000|39,000 (64 %)|",
    "To keep all 60,013 vendors fresh enough, a quota of 15,360 calls a day is needed.",
  ]) {
    expect(texts).toContain(part);
  }
  expect(texts).not.toContain("|weekly|");
});

test("without a quota the page says that calls are not counted, shows what waits, and leaves out days without numbers", async () => {
  const uncounted = { day: "2026-11-20", calls: { direct: 0, first: 0, runs: 0 }, vendorsAsked: 7 };
  const idle = { ...uncounted, day: "2026-11-19", vendorsAsked: 0 };
  dashboard.state.samGovCalls = { days: [...found.days, uncounted, idle], queue: found.queue };
  const texts = textsOf(await visitor.get(PATH));
  expect(texts).toContain("so calls are counted only against the budgets of organizations.");
  expect(texts).toContain("|Runs waiting|1,204 for an answer");
  expect(texts).toContain(`|2026-11-20|none|${"not counted|".repeat(4)}7|`);
  expect(texts).not.toContain("2026-11-19");
  expect(texts).not.toContain("|Quota|");
});

test("the card of SAM.gov's API links the page for operators, and for nobody else", async () => {
  const checks = [CheckType.SAM_REGISTRATION];
  dashboard.state.providers = [{ name: "sam_gov_api", checks, state: "available" }];
  expect((await visitor.get("/live/providers")).text).toContain(`href="${PATH}"`);
  dashboard.state.isOperator = false;
  expect((await visitor.get("/live/providers")).text).not.toContain(PATH);
});

test.each(["owner", "developer", "read_only"])(
  "for the role %s who is not an operator it is as unknown as any other path, from the next request on",
  async (role) => {
    dashboard.state.role = role;
    expect((await visitor.get(PATH)).status).toBe(200);
    dashboard.state.isOperator = false;
    dashboard.state.calls.length = 0;
    const withoutId = ({ status, headers, text }: Page) => {
      const names = [...headers.keys()].filter((name) => !["date", "x-request-id"].includes(name));
      const kept = names.map((name) => [name, headers.get(name)]);
      return { status, kept, text: text.replaceAll(/req_\w+/g, "req_1") };
    };
    const refused = await visitor.get(PATH);
    expect(refused.status).toBe(404);
    expect(withoutId(refused)).toEqual(withoutId(await visitor.get("/live/providers/sam_gov_api/nothing")));
    expect(dashboard.state.calls).toEqual([]);
  },
);

test("it exists only in the live environment", async () => {
  expect((await visitor.get(PATH.replace("live", "test"))).status).toBe(404);
});
