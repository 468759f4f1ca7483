import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { ENTITY_ID } from "../testing/fake-entity.ts";
import { confirmedRunOf, EVENT_ID, eventOf, MONITOR_ID, monitorOf } from "../testing/fake-monitor.ts";
import { VERIFICATION_ID } from "../testing/fake-verification.ts";

const { dashboard, visitor } = dashboardPerTest();

beforeEach(() => {
  dashboard.state.entities = [{ id: ENTITY_ID, legalName: "Acme <Widgets>" }];
  dashboard.state.monitors = [monitorOf()];
});

describe("the list", () => {
  test("shows each with its vendor, last outcome and next run", async () => {
    const errors = { lastRun: { outcome: CheckStatus.ERROR, verificationId: VERIFICATION_ID }, consecutiveErrors: 3 };
    dashboard.state.monitors = [monitorOf(errors)];
    const { status, text } = await visitor.get("/live/monitors");
    expect(status).toBe(200);
    expect(text).toContain(`<a href="/live/monitors/${MONITOR_ID}">Acme &lt;Widgets&gt;</a>`);
    expect(text).toContain("3 times in a row");
    expect(text).toContain("2026-11-22 07:41:46 UTC");
  });

  test("is filtered to monitors without an answer for a long time", async () => {
    const { text } = await visitor.get("/live/monitors?outcome=unanswered");
    expect(dashboard.callsOf("listMonitors")).toMatchObject([{ unanswered: true }]);
    expect(dashboard.callsOf("listMonitors")[0]).not.toHaveProperty("lastOutcome");
    expect(text).toContain('<option value="unanswered" selected>no answer for a long time</option>');
    expect(text).toContain("Every run has ended in an error for longer than three periods or one day.");
  });
});

describe("a monitor's page", () => {
  test("shows what changed in words, with links to the verification and the deliveries", async () => {
    dashboard.state.events = [eventOf(), eventOf({ changes: [{ field: "tin_match.reason", current: "mismatch" }] })];
    const { text } = await visitor.get(`/live/monitors/${MONITOR_ID}`);
    const shown = text.replaceAll(/<[^>]+>/g, "");
    expect(shown).toContain("Registration: from active → to expired");
    expect(shown).toContain("Reason (TIN match): from none → to The name and the TIN do not match.");
    expect(text).toContain(`href="/live/verifications/${VERIFICATION_ID}">View verification`);
    expect(text).toContain(`href="/live/webhooks/deliveries?event_id=${EVENT_ID}">View deliveries`);
    expect(text).toContain(EVENT_ID);
  });

  test("shows its last full check, and what scheduled checks of stored data found since", async () => {
    dashboard.state.confirmedRuns = [confirmedRunOf()];
    const { text } = await visitor.get(`/live/monitors/${MONITOR_ID}`);
    expect(text).toMatch(/<dt>Last full check<\/dt>.*2026-09-24 09:30:00 UTC/);
    expect(text).toMatch(
      /<dt>Since then<\/dt><dd>No change found in our data up to 6 October 2026, 14:00 UTC\. Registration data of 5 October 2026, exclusions of 6 October 2026\.<\/dd>/,
    );
    dashboard.fail("listConfirmedRuns", "service_unavailable");
    const without = await visitor.get(`/live/monitors/${MONITOR_ID}`);
    expect(without.text).toContain("<dt>Last check</dt>");
    expect(without.text).not.toContain("full check");
  });

  test("says since when its data is too old, and so does the list", async () => {
    dashboard.state.monitors = [monitorOf({ staleSince: timestampFromDate(new Date("2026-10-04T08:00:00Z")) })];
    expect((await visitor.get(`/live/monitors/${MONITOR_ID}`)).text).toContain(
      "too old: since 4 October 2026, 08:00 UTC scheduled checks confirm nothing.",
    );
    expect((await visitor.get("/live/monitors")).text).toContain(
      "Not confirmed since 4 October 2026, 08:00 UTC: our data is too old.",
    );
  });
});

describe("a cancellation", () => {
  test("is confirmed first, then done", async () => {
    const path = `/live/monitors/${MONITOR_ID}/cancel`;
    const { text } = await visitor.get(path);
    expect(text).toContain("Cancel the monitor of Acme &lt;Widgets&gt;?");
    expect(dashboard.callsOf("cancelMonitor")).toEqual([]);
    const { status, location } = await visitor.post(path);
    expect([status, location]).toEqual([303, `/live/monitors/${MONITOR_ID}?done=canceled`]);
    expect(dashboard.callsOf("cancelMonitor")).toMatchObject([{ monitorId: MONITOR_ID }]);
  });
});
