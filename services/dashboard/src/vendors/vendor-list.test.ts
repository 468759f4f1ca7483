import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { confirmedRunOf } from "../testing/fake-monitor.ts";

const { dashboard, visitor } = dashboardPerTest();
const ID = newId("ent");
const CHECKED_AT = new Date(Date.now() - 24 * 60 * 60 * 1_000);

beforeEach(() => {
  dashboard.state.vendors = [vendorOf("Acme <Widgets>", { id: ID, externalId: "=V-1" })];
});

function vendorOf(legalName: string, entity: { id?: string; externalId?: string } = {}) {
  const passed = { status: CheckStatus.PASS, checkedAt: timestampFromDate(CHECKED_AT) };
  return {
    entity: { id: newId("ent"), legalName, identifiers: { uei: "ABCDEFGHJK71" }, ...entity },
    checks: [{ checkType: CheckType.SAM_REGISTRATION, ...passed, lastAnswered: passed }],
    expirationDate: "2999-03-31",
    activeMonitors: 1,
    lastCheckedAt: passed.checkedAt,
  };
}

describe("the list", () => {
  test("shows each vendor's status in words, last check, expiry, number and whether it is monitored", async () => {
    const { status, text } = await visitor.get("/live/vendors");
    expect(status).toBe(200);
    expect(text).toContain(`<a href="/live/vendors/${ID}">Acme &lt;Widgets&gt;</a>`);
    expect(text).toContain("Active in SAM.gov until 31 March 2999.");
    expect(text).toContain(CHECKED_AT.toISOString());
    expect(text).toContain("=V-1");
    expect(text).toContain('<td data-label="Monitored">yes</td>');
    expect(dashboard.callsOf("listVendors")).toMatchObject([
      { limit: 50, caller: { tenant: { environment: "ENVIRONMENT_LIVE" } } },
    ]);
  });

  test("shows what scheduled checks of monitors found since, which keeps a vendor’s status fresh", async () => {
    const daysAgo = (days: number) => timestampFromDate(new Date(Date.now() - days * 24 * 60 * 60 * 1_000));
    const answer = { status: CheckStatus.PASS, checkedAt: daysAgo(60) };
    const checks = [{ checkType: CheckType.SAM_REGISTRATION, ...answer, lastAnswered: answer }];
    dashboard.state.vendors = [{ ...vendorOf("Acme", { id: ID }), checks, lastCheckedAt: answer.checkedAt }];
    expect((await visitor.get("/live/vendors")).text).toContain("Verify again");
    const { confirmed } = confirmedRunOf();
    const lately = { ...confirmed, lastAt: daysAgo(2) };
    const staleSince = daysAgo(1);
    dashboard.state.confirmedRuns = [
      confirmedRunOf({ entityId: ID, at: answer.checkedAt, confirmed: lately, staleSince }),
    ];
    const { text } = await visitor.get("/live/vendors");
    expect(text).toContain('<span class="state pass">Passed</span>');
    expect(text).toMatch(
      /data-label="Status".*No change found in our data up to .*exclusions of 6 October 2026\..*Not confirmed since/,
    );
    expect((await visitor.get("/live/vendors.csv")).text).toContain(
      `"${ID}","${new Date(Number(lately.lastAt.seconds) * 1_000).toISOString().slice(0, 19)}`,
    );
    dashboard.fail("listConfirmedRuns", "service_unavailable");
    const without = await visitor.get("/live/vendors");
    expect([without.status, (await visitor.get("/live/vendors.csv")).status]).toEqual([200, 503]);
    expect(without.text).toContain("What scheduled checks found is temporarily unavailable");
  });

  test.each([
    ["failed", { filter: "VENDOR_FILTER_FAILED" }],
    ["excluded", { filter: "VENDOR_FILTER_EXCLUDED" }],
    ["error", { filter: "VENDOR_FILTER_ERROR" }],
    ["expired", { filter: "VENDOR_FILTER_EXPIRED" }],
    ["expiring-30", { filter: "VENDOR_FILTER_EXPIRING", days: 30 }],
    ["expiring-60", { filter: "VENDOR_FILTER_EXPIRING", days: 60 }],
    ["expiring-90", { filter: "VENDOR_FILTER_EXPIRING", days: 90 }],
    ["unchecked", { filter: "VENDOR_FILTER_NOT_CHECKED", days: 30 }],
    ["monitored", { filter: "VENDOR_FILTER_MONITORED" }],
    ["unmonitored", { filter: "VENDOR_FILTER_NOT_MONITORED" }],
    ["archived", { filter: "VENDOR_FILTER_ARCHIVED" }],
  ])("is filtered by the service: %s", async (show, expected) => {
    const { status, text } = await visitor.get(`/live/vendors?show=${show}&sort=checked`);
    expect(status).toBe(200);
    expect(text).toContain(`<option value="${show}" selected>`);
    expect(dashboard.callsOf("listVendors")).toMatchObject([{ ...expected, order: "VENDOR_ORDER_LAST_CHECK_NEWEST" }]);
  });
});

describe("the CSV file", () => {
  test("has all vendors of the filter, and no cell that a spreadsheet runs", async () => {
    const others = Array.from({ length: 230 }, (_, index) => vendorOf(`Vendor ${index}`));
    dashboard.state.vendors = [...dashboard.state.vendors, ...others];
    const { status, headers, text } = await visitor.get("/live/vendors.csv?show=monitored");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(headers.get("content-disposition")).toMatch(
      /^attachment; filename="vendors-live-monitored-\d{4}-\d\d-\d\d\.csv"$/,
    );
    const lines = text.trimEnd().split("\r\n");
    expect(lines).toHaveLength(232);
    expect(lines[1]).toBe(
      `"Acme <Widgets>","'=V-1","ABCDEFGHJK71","","Passed","Active in SAM.gov until 31 March 2999.","${CHECKED_AT.toISOString()}","2999-03-31","no","yes","no","${ID}",""`,
    );
    expect(dashboard.callsOf("listVendors")).toHaveLength(3);
    expect(dashboard.callsOf("listVendors")[2]).toMatchObject({ filter: "VENDOR_FILTER_MONITORED", limit: 100 });
  });

  test("is refused with a filter that does not exist, and is not begun while the list is unavailable", async () => {
    expect((await visitor.get("/live/vendors.csv?show=bad")).status).toBe(400);
    dashboard.fail("listVendors", "service_unavailable");
    expect((await visitor.get("/live/vendors.csv")).status).toBe(503);
  });
});

describe("archiving", () => {
  test("takes a vendor out of the list and back, and returns to the same filter", async () => {
    const form = { entity_id: ID, archived: "yes", show: "failed", sort: "expiry" };
    const { status, location } = await visitor.post("/live/vendors/archive", form);
    expect([status, location]).toEqual([303, "/live/vendors?show=failed&sort=expiry&done=archived"]);
    expect((await visitor.get(location!)).text).toContain("The vendor was archived.");
    const archive = await visitor.get("/live/vendors?show=archived");
    expect(archive.text).toContain("Take back");
    await visitor.post("/live/vendors/archive", { entity_id: ID, archived: "no" });
    expect(dashboard.callsOf("setVendorArchived")).toMatchObject([{ entityId: ID, archived: true }, { entityId: ID }]);
    expect((await visitor.get("/live/vendors")).text).toContain("Acme");
  });

  test("is in the audit log with the vendor and the user, before it is done, and once", async () => {
    const archive = (archived: string) => visitor.post("/live/vendors/archive", { entity_id: ID, archived });
    for (const archived of ["yes", "yes", "no", "no"]) await archive(archived);
    const made = dashboard.state.calls.map((call) => call.split(" ")[0]).filter((name) => /Audit|Archived/.test(name!));
    expect(made).toEqual(["appendAuditEntry", "setVendorArchived", "appendAuditEntry", "setVendorArchived"]);
    const by = { target: ID, caller: { actor: "usr_1", tenant: { environment: "ENVIRONMENT_LIVE" } } };
    expect(dashboard.callsOf("appendAuditEntry")).toMatchObject([
      { ...by, action: "vendor.archived" },
      { ...by, action: "vendor.restored" },
    ]);
  });

  test("is not done while the audit log can't record it", async () => {
    dashboard.fail("appendAuditEntry", "service_unavailable");
    expect((await visitor.post("/live/vendors/archive", { entity_id: ID, archived: "yes" })).status).toBe(503);
    expect(dashboard.callsOf("setVendorArchived")).toEqual([]);
  });

  test("is refused for what is no vendor of the list, and nothing is recorded", async () => {
    expect((await visitor.post("/live/vendors/archive", { entity_id: "x", archived: "yes" })).status).toBe(400);
    expect((await visitor.post("/live/vendors/archive", { entity_id: newId("ent"), archived: "yes" })).status).toBe(
      404,
    );
    expect(dashboard.callsOf("appendAuditEntry")).toEqual([]);
  });

  test("is not offered to those who can only read", async () => {
    dashboard.state.role = "read_only";
    const { text } = await visitor.get("/live/vendors");
    expect(text).toContain("Acme");
    expect(text).not.toContain("/live/vendors/archive");
  });
});
