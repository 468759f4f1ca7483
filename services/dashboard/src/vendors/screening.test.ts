import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { confirmedRunOf } from "../testing/fake-monitor.ts";
import { VERIFICATION_ID, verificationOf } from "../testing/fake-verification.ts";

const { dashboard, visitor } = dashboardPerTest();
const [CHECKED, UNCHECKED] = [newId("ent"), newId("ent")];
const PERIOD = "from=2026-11-01&to=2026-11-30";

beforeEach(() => {
  dashboard.state.vendors = [
    { entity: { id: CHECKED, legalName: "Acme <Widgets>", externalId: "+V-1", identifiers: { uei: "ABCDEFGHJK71" } } },
    { entity: { id: UNCHECKED, legalName: "Forgotten LLC", externalId: "V-2" } },
  ];
  dashboard.state.verifications = [verificationOf({ entityId: CHECKED, actor: "mon_1" })];
});

describe("the report of a period", () => {
  test("shows which vendor was checked when, by which source with data of which day, with which answer, for whom", async () => {
    const { status, text } = await visitor.get(`/live/screening?${PERIOD}`);
    expect(status).toBe(200);
    expect(text).toContain("Acme &amp; Sons: checks from 1 November 2026 to 30 November 2026");
    expect(text).toContain(`<a href="/live/vendors/${CHECKED}">Acme &lt;Widgets&gt;</a>`);
    expect(text).toContain(`<a href="/live/verifications/${VERIFICATION_ID}">`);
    expect(text).toContain(
      'SAM.gov extract files <span class="hint">data as of <time datetime="2026-11-19">19 November 2026</time></span>',
    );
    expect(text).toContain("1: 1 passed, 0 failed, 0 without an answer");
    expect(text).toContain('<td data-label="Requested by">monitor</td>');
    expect(dashboard.callsOf("listVerifications")).toMatchObject([
      { from: "2026-11-01T00:00:00Z", before: "2026-12-01T00:00:00Z", caller: { tenant: { organizationId: "org_1" } } },
    ]);
  });

  test("names the vendors of the list that were not checked", async () => {
    const { text } = await visitor.get(`/live/screening?${PERIOD}`);
    const [, unchecked = ""] = text.split("Not checked from 1 November 2026 to 30 November 2026");
    expect(unchecked).toContain("Forgotten LLC");
    expect(unchecked).not.toContain("Acme");
  });

  test("names vendors whose monitors found no change in our data apart from those that were not checked", async () => {
    const { confirmed } = confirmedRunOf();
    const until = (day: string) => ({ ...confirmed, lastAt: timestampFromDate(new Date(`${day}T14:00:00Z`)) });
    dashboard.state.confirmedRuns = [confirmedRunOf({ entityId: UNCHECKED, confirmed: until("2026-11-20") })];
    const { text } = await visitor.get(`/live/screening?${PERIOD}`);
    const [, unchanged = ""] = text.split(
      '<h2 id="unchanged">No change found from 1 November 2026 to 30 November 2026',
    );
    expect(unchanged).toContain("Forgotten LLC");
    expect(unchanged).toContain(
      "No change found in our data up to 20 November 2026, 14:00 UTC. Registration data of 5 October 2026, exclusions of 6 October 2026. Last full check 24 September 2026.",
    );
    expect(text).toContain("0 of the vendors in the list");
    expect(text).not.toContain("Not checked from");
    expect(dashboard.callsOf("listConfirmedRuns")).toMatchObject([
      { entityIds: [CHECKED], before: "2026-12-01T00:00:00Z" },
      { entityIds: [CHECKED, UNCHECKED] },
    ]);
    const { text: csv } = await visitor.get(`/live/screening.csv?${PERIOD}`);
    expect(csv).toContain(`"Forgotten LLC","V-2","","sam_registration","no change found, pass",`);
    expect(csv).toContain(`"${UNCHECKED}","2026-11-20T14:00:00.000Z"`);
    // Checked before the period only.
    dashboard.state.confirmedRuns = [confirmedRunOf({ entityId: UNCHECKED, confirmed: until("2026-10-31") })];
    expect((await visitor.get(`/live/screening?${PERIOD}`)).text).toContain("Not checked from");
  });

  test("says beside an answer what scheduled checks found since", async () => {
    dashboard.state.confirmedRuns = [confirmedRunOf({ entityId: CHECKED })];
    const { text } = await visitor.get(`/live/screening?${PERIOD}`);
    expect(text).toContain("No change found in our data up to 6 October 2026, 14:00 UTC.");
  });

  test("is of the month before this one where none is chosen, and says where nothing was checked", async () => {
    dashboard.state.verifications = [];
    const { text } = await visitor.get("/live/screening");
    expect(text).toContain("No vendor was verified in this period.");
    expect(dashboard.callsOf("listVerifications")[0].from).toMatch(/-01T00:00:00Z$/);
  });

  test("that is longer than the page shows the newest answers, and says so", async () => {
    const results = Array.from({ length: 1_001 }, () => verificationOf().results![0]!);
    dashboard.state.verifications = [verificationOf({ entityId: CHECKED, results })];
    const { text } = await visitor.get(`/live/screening?${PERIOD}`);
    expect(text).toContain("The period has more answers than this page shows");
    expect(text).not.toContain("Forgotten LLC");
    expect(text.match(/data-label="Checked at"/g)).toHaveLength(1_000);
  });

  test("of days that are no period is refused; while a service is unavailable it says so", async () => {
    const refused = await visitor.get("/live/screening?from=2026-12-01&to=2026-11-01");
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("The last day must not be before the first day.");
    dashboard.fail("listVerifications", "service_unavailable");
    const { status, text } = await visitor.get(`/live/screening?${PERIOD}`);
    expect(status).toBe(503);
    expect(text).toContain("No data is lost.");
  });
});

describe("the CSV file of a report", () => {
  test("has every answer and the vendors without one, and no cell that a spreadsheet runs", async () => {
    const failed = { ...verificationOf().results![0]!, status: CheckStatus.FAIL, reason: "excluded" };
    const unanswered = { ...failed, status: CheckStatus.ERROR, reason: "providers_failed", origin: "none" };
    const createdAt = timestampFromDate(new Date("2026-11-21T07:41:46.067Z"));
    dashboard.state.verifications = [
      verificationOf({ entityId: CHECKED, actor: "key_1", createdAt, results: [failed, unanswered] }),
    ];
    const { headers, text } = await visitor.get(`/live/screening.csv?${PERIOD}`);
    expect(headers.get("content-disposition")).toBe('attachment; filename="screening-live-2026-11-01-2026-11-30.csv"');
    const who = `"Acme <Widgets>","'+V-1","ABCDEFGHJK71","sam_registration"`;
    const ids = `"API key key_1","${VERIFICATION_ID}","${CHECKED}"`;
    expect(text.trimEnd().split("\r\n").slice(1)).toEqual([
      `"2026-11-21T07:41:46.067Z",${who},"fail","excluded","SAM.gov extract files","2026-11-19",${ids},""`,
      `"2026-11-21T07:41:46.067Z",${who},"error","providers_failed","","",${ids},""`,
      `"","Forgotten LLC","V-2","","","not checked in this period","","","","","","${UNCHECKED}",""`,
    ]);
  });

  test("is refused for days that are no period", async () => {
    expect((await visitor.get("/live/screening.csv?from=1&to=2")).status).toBe(400);
  });
});
