import { beforeEach, describe, expect, test } from "@jest/globals";
import type { Frequency } from "@vvs/proto/monitor/v1/monitor";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { MONITOR_ID, monitorOf } from "../testing/fake-monitor.ts";

const PAGE = `/live/monitors/${MONITOR_ID}`;
const form = { frequency: "weekly", webhook_url: "https://hooks.acme.example/new", external_id: " M-2 " };
const { dashboard, visitor } = dashboardPerTest();
beforeEach(() => {
  dashboard.state.monitors = [monitorOf({ externalId: "M-1" })];
});

test("the monitor's page links to a form with its current values", async () => {
  const page = (await visitor.get(PAGE)).text;
  for (const part of [`href="${PAGE}/change"`, "Your vendor number", "<code>M-1</code>"]) expect(page).toContain(part);
  const { text } = await visitor.get(`${PAGE}/change`);
  expect(text).toContain(`value="daily" selected`);
  expect(text).toContain(`value="https://hooks.acme.example/vendors"`);
  expect(text).toContain(`value="M-1"`);
});

test("a frequency that this version does not know is not replaced by a form that is saved as it is", async () => {
  dashboard.state.monitors = [monitorOf({ frequency: 9 as Frequency })];
  const { text } = await visitor.get(`${PAGE}/change`);
  expect(text).toContain('<select id="frequency" name="frequency"><option value="">choose</option>');
  expect((await visitor.post(`${PAGE}/change`, { ...form, frequency: "" })).status).toBe(400);
});

test("changes are made on behalf of the user, and confirmed on the monitor's page", async () => {
  const { status, location } = await visitor.post(`${PAGE}/change`, form);
  expect([status, location]).toEqual([303, `${PAGE}?done=changed`]);
  expect(dashboard.callsOf("updateMonitor")[0]).toMatchObject({
    caller: { actor: "usr_1", tenant: { organizationId: "org_1", environment: "ENVIRONMENT_LIVE" } },
    monitorId: MONITOR_ID,
    frequency: "FREQUENCY_WEEKLY",
    webhookUrl: form.webhook_url,
    externalId: "M-2",
  });
  expect((await visitor.get(location!)).text).toContain("The monitor was changed.");
});

describe("nothing is changed", () => {
  test("by an incomplete form, which says what is missing", async () => {
    const { status, text } = await visitor.post(`${PAGE}/change`, { frequency: "yearly", webhook_url: " " });
    expect(status).toBe(400);
    for (const part of ["Nothing was changed", "Choose how often the monitor runs."]) expect(text).toContain(part);
    expect(dashboard.callsOf("updateMonitor")).toEqual([]);
  });

  test("by a vendor number that the monitor service refuses, which is not shown again if it looks like a TIN", async () => {
    const details = [{ path: "external_id", message: "must not be the TIN" }];
    dashboard.fail("updateMonitor", "invalid_request", { details });
    const { status, text } = await visitor.post(`${PAGE}/change`, { ...form, external_id: "12-3456789" });
    expect(status).toBe(400);
    expect(text).toContain("The vendor number must not be the TIN.");
    expect(text).not.toContain("3456789");
  });

  test("by a form with the stored URL, which is shown again even if it holds nine digits; another such URL is not", async () => {
    const stored = "https://hooks.acme.example/123456789";
    dashboard.state.monitors = [monitorOf({ webhookUrl: stored })];
    const refused = async (webhook_url: string) =>
      (await visitor.post(`${PAGE}/change`, { ...form, webhook_url, frequency: "yearly" })).text;
    expect(await refused(stored)).toContain(`value="${stored}"`);
    expect(await refused(`${stored}/1`)).not.toContain("123456789");
  });

  test("by a URL that the monitor service refuses", async () => {
    const details = [{ path: "webhook_url", message: "must be https" }];
    dashboard.fail("updateMonitor", "invalid_request", { details });
    const { status, text } = await visitor.post(`${PAGE}/change`, form);
    expect(status).toBe(400);
    expect(text).toContain("The webhook URL must be https.");
  });

  test("for a canceled monitor", async () => {
    dashboard.state.monitors = [monitorOf({ status: "canceled" })];
    expect(await visitor.get(`${PAGE}/change`)).toMatchObject({ status: 303, location: PAGE });
    expect((await visitor.get(PAGE)).text).not.toContain(`${PAGE}/change`);
  });
});
