import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import { startDashboard, type TestDashboard, type Visitor } from "../testing/dashboard.ts";
import { ENTITY_ID } from "../testing/fake-entity.ts";
import { eventOf, MONITOR_ID, monitorOf } from "../testing/fake-monitor.ts";
import { keyOf } from "../testing/fake-services.ts";
import { VERIFICATION_ID, verificationOf } from "../testing/fake-verification.ts";

let dashboard: TestDashboard;
let visitor: Visitor;

beforeEach(async () => {
  dashboard = await startDashboard();
  visitor = dashboard.visitor();
  await visitor.signIn();
  dashboard.state.entities = [{ id: ENTITY_ID, legalName: "Acme <Widgets>" }];
});

afterEach(() => dashboard.close());

const page = () => visitor.get("/test/overview");

function fill(): void {
  const { state } = dashboard;
  const lastRun = { outcome: CheckStatus.ERROR, verificationId: VERIFICATION_ID };
  state.keys = [keyOf()];
  state.monitors = [monitorOf({ lastRun, consecutiveErrors: 3 })];
  state.events = [eventOf()];
  state.verifications = [verificationOf()];
  state.endpoints = [{ webhookUrl: "https://acme.example/hook", state: "failing" }];
  state.providers = [{ name: "sam_gov_api", state: "unavailable" }];
  const hour = timestampFromDate(new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000));
  state.usage = [{ hour, status: 200, apiKeyId: "key_1", requests: 7n, durations: [7n] }];
}

describe("the overview", () => {
  test("is the page after signing in, and the start of each environment", async () => {
    expect((await visitor.get("/")).location).toBe("/test/overview");
    expect((await visitor.get("/live")).location).toBe("/live/overview");
  });

  test("shows what needs attention, what is new and the usage", async () => {
    fill();
    const { status, text } = await page();
    expect(status).toBe(200);
    expect(text).toContain("https://acme.example/hook</a>");
    expect(text).toContain("its last 3 runs ended in errors");
    expect(text).toContain("SAM.gov API</a>");
    expect(text).toContain(`<a href="/test/verifications/${VERIFICATION_ID}">Acme &lt;Widgets&gt;</a>`);
    expect(text).toContain(`<a href="/test/monitors/${MONITOR_ID}">Acme &lt;Widgets&gt;</a>`);
    expect(text).toContain("<ins>expired</ins>");
    expect(text).toContain("Answered 7");
    expect(text).not.toContain("First steps");
  });

  test("shows the first steps while there is no data", async () => {
    const { text } = await page();
    expect(text).toContain("First steps in the Test environment");
    for (const path of ["api-keys", "verifications/new", "monitors/new", "webhooks/test"]) {
      expect(text).toContain(`<li><a href="/test/${path}">`);
    }
    dashboard.state.keys = [keyOf()];
    expect((await page()).text).toContain("done</span> Create an API key");
  });

  test.each([
    ["listEndpoints", "webhook endpoints is temporarily unavailable"],
    ["listProviders", "providers is temporarily unavailable"],
    ["listMonitors", "monitors is temporarily unavailable"],
    ["listEvents", "Changes are temporarily unavailable."],
    ["listVerifications", "Verifications are temporarily unavailable."],
    ["getUsage", "Usage is temporarily unavailable."],
    ["getEntity", VERIFICATION_ID],
    ["listApiKeys", VERIFICATION_ID],
  ])("is complete except for the data of %s", async (method, expected) => {
    fill();
    dashboard.state.failures.set(method, new ServiceError("service_unavailable"));
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
    expect(text).toContain("<ins>expired</ins>");
  });
});
