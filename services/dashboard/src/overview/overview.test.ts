import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { ENTITY_ID } from "../testing/fake-entity.ts";
import { eventOf, MONITOR_ID, monitorOf } from "../testing/fake-monitor.ts";
import { keyOf } from "../testing/fake-services.ts";
import { VERIFICATION_ID, verificationOf } from "../testing/fake-verification.ts";

const { dashboard, visitor } = dashboardPerTest();

beforeEach(() => {
  dashboard.state.entities = [{ id: ENTITY_ID, legalName: "Acme <Widgets>" }];
});

const page = () => visitor.get("/test/overview");

function fill(): void {
  const { state } = dashboard;
  const lastRun = { outcome: CheckStatus.ERROR, verificationId: VERIFICATION_ID };
  state.keys = [keyOf()];
  state.monitors = [monitorOf({ lastRun, consecutiveErrors: 3 })];
  state.events = [eventOf()];
  state.verifications = [verificationOf()];
  state.endpoints = [
    { webhookUrl: "https://acme.example/hook", state: "failing", lastSuccessAt: timestampFromDate(new Date()) },
  ];
  state.providers = [{ name: "sam_gov_api", state: "unavailable" }];
  const hour = timestampFromDate(new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000));
  state.usage = [{ hour, status: 200, apiKeyId: "key_1", requests: 7n, durations: [7n] }];
}

describe("the overview", () => {
  test("of Live is the start for an organization that uses it, and else that of Test", async () => {
    expect((await visitor.get("/")).location).toBe("/test/overview");
    dashboard.state.verifications = [verificationOf()];
    expect((await visitor.get("/")).location).toBe("/live/overview");
    dashboard.state.verifications = [];
    dashboard.state.keys = [keyOf()];
    expect((await visitor.get("/")).location).toBe("/live/overview");
    const asked = dashboard.state.calls.filter((call) => call.startsWith("listVerifications"));
    expect(asked.every((call) => call.includes("ENVIRONMENT_LIVE"))).toBe(true);
    expect((await dashboard.visitor().get("/")).location).toBe("/sign-in");
    expect((await visitor.get("/live")).location).toBe("/live/overview");
  });

  test("shows what to do today, what is new and the usage", async () => {
    fill();
    const { status, text } = await page();
    expect(status).toBe(200);
    expect(text).toContain("1 monitor has had no answer for too long");
    expect(text).toContain("1 webhook endpoint does not accept events");
    expect(text).toContain("SAM.gov API does not answer");
    expect(text).toContain("No provider is set up for the check “TIN match”");
    expect(text).toContain(`<a href="/test/verifications/${VERIFICATION_ID}">Acme &lt;Widgets&gt;</a>`);
    expect(text).toContain(`<a href="/test/monitors/${MONITOR_ID}">Acme &lt;Widgets&gt;</a>`);
    expect(text).toContain("to </span>expired</ins>");
    expect(text).toContain("Answered 7");
    expect(text).not.toContain("First steps");
  });

  test("says that there is nothing to do only if that is true", async () => {
    const { state } = dashboard;
    const says = async () => (await page()).text.includes(">nothing</span>");
    state.providers = [
      { name: "sandbox_primary", checks: [CheckType.SAM_REGISTRATION, CheckType.TIN_MATCH], state: "available" },
    ];
    expect(await says()).toBe(true);
    state.vendorCounts = { failed: 2 };
    expect(await says()).toBe(false);
    expect((await page()).text).toContain('2 vendors have failed a check <a href="/test/vendors?show=failed">');
    state.vendorCounts = { registrationEnded: 1 };
    expect((await page()).text).toContain(
      '1 vendor has a registration that has ended <a href="/test/vendors?show=expired">',
    );
    state.vendorCounts = {};
    expect(await says()).toBe(true);
    state.providers = [{ name: "sandbox_primary", checks: [CheckType.SAM_REGISTRATION], state: "available" }];
    expect(await says()).toBe(false);
  });

  test("does not count a test event to a wrong URL as a received webhook", async () => {
    dashboard.state.endpoints = [{ webhookUrl: "https://acme.example/wrong", state: "troubled" }];
    dashboard.state.monitors = [monitorOf()];
    expect((await page()).text).not.toContain("done</span> Receive changes by webhook");
    const lastSuccessAt = timestampFromDate(new Date());
    dashboard.state.endpoints.push({ webhookUrl: "https://acme.example/hook", state: "healthy", lastSuccessAt });
    expect((await page()).text).toContain("done</span> Receive changes by webhook");
    // Also after the monitor was canceled.
    dashboard.state.monitors = [];
    expect((await page()).text).toContain("done</span> Receive changes by webhook");
  });

  test("shows three first steps to a new organization, with a call that works and a vendor to try", async () => {
    const { text } = await page();
    expect(text).toContain("First steps in the Test environment");
    for (const path of ["api-keys", "verifications/new", "vendors/search?uei=SANDBXCHNGE1#found"]) {
      expect(text).toContain(`<li><a href="/test/${path}">`);
    }
    expect(text).toContain("curl https://api.acme.example/v1/verify");
    expect(text).toContain('<a href="https://api.acme.example/docs">API reference</a>');
    expect(text).toContain("the UEI <code>SANDBXACTVE1</code>");
    dashboard.state.keys = [keyOf()];
    dashboard.state.monitors = [monitorOf()];
    const later = (await page()).text;
    expect(later).toContain("done</span> Create an API key");
    expect(later).not.toContain("make this call");
    expect(later).toContain('<a href="/test/webhooks/test">Receive changes by webhook</a>');
  });

  test.each([
    ["listEndpoints", "webhook endpoints is temporarily unavailable"],
    ["countVendors", "vendors is temporarily unavailable"],
    ["listProviders", "providers is temporarily unavailable"],
    ["getProviderUsage", "budgets is temporarily unavailable"],
    ["listMonitors", "monitors is temporarily unavailable"],
    ["listEvents", "Changes are temporarily unavailable."],
    ["listVerifications", "Verifications are temporarily unavailable."],
    ["getUsage", "Usage is temporarily unavailable."],
    ["getEntity", VERIFICATION_ID],
    ["listApiKeys", VERIFICATION_ID],
  ])("is complete except for the data of %s", async (method, expected) => {
    fill();
    dashboard.fail(method, "service_unavailable");
    const { status, text } = await page();
    expect(status).toBe(200);
    expect(text).toContain(expected);
    expect(text).not.toContain("First steps");
    expect(text).toContain("Latest changes");
  });

  test("does not wait for a service that does not answer", async () => {
    fill();
    const slow = Promise.withResolvers<void>();
    dashboard.state.slow = slow.promise;
    const { text } = await page();
    slow.resolve();
    expect(text).toContain("providers is temporarily unavailable");
    expect(text).toContain("to </span>expired</ins>");
  });
});
