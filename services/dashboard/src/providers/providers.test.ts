import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { CheckType } from "@vvs/proto/common/v1/common";
import { dashboardPerTest } from "../testing/dashboard.ts";

const { dashboard, visitor } = dashboardPerTest();

test("each provider of the environment is shown with its checks, state, quota and last answer", async () => {
  dashboard.state.providers = [
    {
      name: "sam_gov_api",
      checks: [CheckType.SAM_REGISTRATION],
      state: "degraded",
      quotaRemaining: 12_345n,
      lastSuccessAt: timestampFromDate(new Date("2026-11-21T07:41:46Z")),
    },
    { name: "taxbandits", checks: [CheckType.TIN_MATCH], state: "available" },
  ];
  const { status, text } = await visitor.get("/live/providers");
  expect(status).toBe(200);
  expect(dashboard.state.calls).toEqual(['listProviders {"environment":"ENVIRONMENT_LIVE"}']);
  const [, registration, tinMatch] = text.split("<h2");
  for (const part of [
    "SAM.gov API",
    "degraded",
    "12,345",
    "2026-11-21 07:41:46 UTC",
    "The provider recently failed to answer",
  ]) {
    expect(registration).toContain(part);
    expect(tinMatch).not.toContain(part);
  }
  for (const part of ["TaxBandits", "available", "none yet", "no known limit"]) expect(tinMatch).toContain(part);
});

test("a provider whose files are too old is not called available, and the page says what that means", async () => {
  const provider = { name: "sam_gov_extract", checks: [CheckType.SAM_REGISTRATION], state: "unavailable" };
  dashboard.state.providers = [{ ...provider, outdated: true }];
  const { text } = await visitor.get("/live/providers");
  expect(text).toContain('<span class="state unavailable">data too old</span>');
  expect(text).toContain("The loaded files are too old");
});

test("a used-up quota is shown as 0 calls left", async () => {
  const provider = { name: "sam_gov_api", checks: [CheckType.SAM_REGISTRATION], state: "unavailable" };
  dashboard.state.providers = [{ ...provider, quotaRemaining: 0n }];
  const { text } = await visitor.get("/live/providers");
  expect(text).toContain("<dt>Calls left today</dt><dd>0</dd>");
  expect(text).toContain("All providers of this check are unavailable");
  expect(text).toContain("No provider is set up for this check in this environment");
});

test("while verification is unavailable the page says so, and the rest can be used", async () => {
  await dashboard.stop("verification");
  const { status, text } = await visitor.get("/test/providers");
  expect(status).toBe(503);
  expect(text).toContain("This page can’t be shown, because a service is temporarily unavailable");
  expect(text).toContain('href="/test/webhooks"');
});
