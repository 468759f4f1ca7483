import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { CheckType } from "@vvs/proto/common/v1/common";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { keyOf } from "../testing/fake-services.ts";
import { rangesAt } from "./usage-figures.ts";

const { dashboard, visitor } = dashboardPerTest();
const page = (path: string) => visitor.get(path);

const HOUR_MS = 60 * 60 * 1000;
const asked = () => dashboard.callsOf("getUsage")[0];

test.each([
  ["day", "2026-03-01T12:30:00Z", "2026-02-28T13:00:00.000Z", "2026-03-01T13:00:00.000Z", 24],
  ["week", "2026-03-01T12:30:00Z", "2026-02-22T13:00:00.000Z", "2026-03-01T13:00:00.000Z", 168],
  ["month", "2026-03-01T00:00:00Z", "2026-01-31T00:00:00.000Z", "2026-03-02T00:00:00.000Z", 30],
  ["quarter", "2026-03-01T23:59:59Z", "2025-11-30T00:00:00.000Z", "2026-03-02T00:00:00.000Z", 92],
])("the range %s at %s has whole periods up to the current one", (id, now, from, to, periods) => {
  const range = rangesAt(new Date(now)).find((each) => each.id === id)!;
  expect([range.from.toISOString(), range.to.toISOString()]).toEqual([from, to]);
  expect((range.to.getTime() - range.from.getTime()) / range.stepMs).toBe(periods);
});

test("requests are shown as a plot and as numbers, by outcome and by key", async () => {
  const hour = timestampFromDate(new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS));
  const durations = Array.from({ length: 16 }, (_, place) => (place === 4 ? 1_234n : 0n));
  const counts = { apiKeyId: "key_1", hour, durations };
  dashboard.state.keys = [keyOf({ id: "key_1", name: "Billing <1>" })];
  dashboard.state.usage = [
    { ...counts, status: 200, requests: 1_234n },
    { ...counts, status: 429, requests: 7n, apiKeyId: "key_gone" },
  ];
  const { status, text } = await page("/live/usage?range=day");
  expect(status).toBe(200);
  expect(text).toContain("<dd>1,241</dd>");
  expect(text).toContain('7, answered with 429. <a href="/live/requests?outcome=rate_limited">');
  expect(text).toContain("500 requests per minute for each API key (plan Growth)");
  expect(text).toContain("Billing &lt;1&gt;");
  expect(text).toContain("key_gone");
  expect(text.match(/<rect class="answered" x=/g)).toHaveLength(1);
  expect(text.match(/<rect class="limited" x=/g)).toHaveLength(1);
  expect(asked()).toMatchObject({ interval: "USAGE_INTERVAL_HOUR" });
});

test("the usage of one key can be shown; an unknown key or range is ignored", async () => {
  dashboard.state.keys = [keyOf({ id: "key_1" })];
  await page("/live/usage?key=key_1");
  expect(asked()).toMatchObject({ apiKeyId: "key_1", interval: "USAGE_INTERVAL_DAY" });
  dashboard.state.calls.length = 0;
  expect((await page("/live/usage?key=key_2&range=ever")).status).toBe(200);
  expect(asked()).not.toHaveProperty("apiKeyId");
});

test("without requests the page says how to make one", async () => {
  const { text } = await page("/test/usage");
  expect(text).toContain("No API requests in the Test environment in the last 30 days.");
  expect(text).toContain('href="/test/api-keys"');
});

test("the health of each provider is shown as a plot and as numbers, for the range and environment of the page", async () => {
  const hour = timestampFromDate(new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS));
  const before = timestampFromDate(new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS));
  dashboard.state.providerHealth = [
    {
      provider: "sam_gov_api",
      checkType: CheckType.SAM_REGISTRATION,
      overall: { answeredPercent: 93, halfWithinMs: 256, mostWithinMs: 2_048 },
      periods: [
        { at: before, figures: { answeredPercent: 86, halfWithinMs: 256, mostWithinMs: 2_048 } },
        { at: hour, figures: { answeredPercent: 100, halfWithinMs: 256, mostWithinMs: 1_024 } },
      ],
    },
    { provider: "new <one>", checkType: CheckType.TIN_MATCH, overall: { answeredPercent: 0 }, periods: [] },
  ];
  const { status, text } = await page("/live/usage?range=day");
  expect(status).toBe(200);
  expect(text).toContain("SAM.gov API: SAM.gov registration");
  expect(text).toContain("93 % of requests answered, half of them within 256 ms, 95 % within 2.0 s.");
  expect(text).toContain('<td data-label="No answer" class="number">14 %</td>');
  expect(text.match(/<rect class="answered" x=/g)).toHaveLength(2);
  expect(text.match(/<rect class="failed" x=/g)).toHaveLength(1);
  expect(text).toContain("new &lt;one&gt;: TIN match");
  expect(text).toContain("No requests answered.");
  expect(dashboard.callsOf("getProviderHealth")[0]).toMatchObject({
    environment: "ENVIRONMENT_LIVE",
    interval: "HEALTH_INTERVAL_HOUR",
  });
});

test("if no provider was called the page says what to do", async () => {
  const { text } = await page("/test/usage?range=quarter");
  expect(text).toContain("No provider was called in the last 92 days.");
  expect(text).toContain('href="/test/verifications"');
});

describe("the organization's calls to providers today", () => {
  const sam = { provider: "sam_gov_api", perDay: 5_000, perMinute: 120 };
  const tin = { provider: "taxbandits", perDay: 20_000, perMinute: 60 };

  test("are shown with what is left of the plan's budgets", async () => {
    dashboard.state.providerUsage = [
      { ...sam, direct: 1_234, directLeft: 1_266, monitors: 12, monitorsLeft: 3_488 },
      { ...tin, direct: 0, directLeft: 10_000, monitors: 0, monitorsLeft: 14_000 },
    ];
    const { text } = await page("/live/usage");
    expect(text).toContain('<th scope="row">SAM.gov API</th>');
    expect(text).toContain('max="2500" high="2000" optimum="0" value="1234"');
    expect(text).toContain("1,266 left");
    expect(text).toContain('<td data-label="Maximum per day" class="number">20,000</td>');
    expect(text).not.toContain("until midnight UTC");
    expect(dashboard.callsOf("getProviderUsage")[0].caller.tenant).toMatchObject({
      organizationId: "org_1",
      environment: "ENVIRONMENT_LIVE",
    });
  });

  test.each([
    [0, 7, "is not called for the API and the dashboard again until midnight UTC"],
    [7, 0, "is not called for monitors again until midnight UTC"],
    [0, 0, "is not called for anybody in your organization again until midnight UTC"],
  ])(
    "%d left for direct calls and %d for monitors: the page says what is spent",
    async (directLeft, monitorsLeft, expected) => {
      dashboard.state.providerUsage = [{ ...sam, direct: 10, directLeft, monitors: 10, monitorsLeft }];
      expect((await page("/live/usage")).text).toContain(`SAM.gov API ${expected}`);
    },
  );

  test("are left out in the sandbox and where the organization has no budget", async () => {
    expect((await page("/live/usage")).text).not.toContain("Your calls to providers");
    dashboard.state.calls.length = 0;
    expect((await page("/test/usage")).text).not.toContain("Your calls to providers");
    expect(dashboard.state.calls.join()).not.toContain("getProviderUsage");
  });
});
