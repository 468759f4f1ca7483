import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { deliveryOf } from "../testing/fake-dispatcher.ts";
import { ENTITY_ID } from "../testing/fake-entity.ts";
import { JOB_ID, jobOf, jobResultOf } from "../testing/fake-jobs.ts";
import { EVENT_ID, MONITOR_ID, monitorOf } from "../testing/fake-monitor.ts";
import { keyOf } from "../testing/fake-services.ts";
import { verificationOf } from "../testing/fake-verification.ts";

const { dashboard, visitor } = dashboardPerTest();
const KEY = newId("key");
const USER = newId("usr");
const at = timestampFromDate(new Date("2026-11-20T08:00:00Z"));
const period = { from: "2026-11-20T08:00", to: "2026-11-21T08:00" };
const asPeriod = { from: "2026-11-20T08:00:00Z", to: "2026-11-21T08:00:00Z" };

interface List {
  readonly path: string;
  /** The method that reads it. */
  readonly method: string;
  readonly filter: Readonly<Record<string, string>>;
  /** What the method is asked for with this filter. */
  readonly asked: object;
  /** A filter that is refused, and why. */
  readonly refused: readonly [name: string, value: string, problem: string];
  readonly empty: string;
  /** Whether places in it are not checked. */
  readonly takesAnyPlace?: boolean;
}

const lists: readonly List[] = [
  {
    ...{ path: "vendors", method: "listVendors", filter: { show: "monitored", sort: "expiry" } },
    asked: { filter: "VENDOR_FILTER_MONITORED", order: "VENDOR_ORDER_EXPIRY", limit: 50 },
    refused: ["show", "12-3456789", "Choose one of the options."],
    empty: "No vendors yet.",
  },
  {
    ...{ path: "verifications", method: "listVerifications", filter: { entity_id: ENTITY_ID } },
    asked: { entityId: ENTITY_ID, page: { limit: 25 } },
    refused: ["entity_id", "123456789", "Enter a vendor ID: ent_ followed by 26 letters and digits."],
    empty: "No verifications yet.",
  },
  {
    ...{ path: "monitors", method: "listMonitors" },
    filter: { status: "canceled", outcome: "error", entity_id: ENTITY_ID },
    asked: { canceled: true, lastOutcome: "CHECK_STATUS_ERROR", entityId: ENTITY_ID, page: { limit: 25 } },
    refused: ["outcome", "good", "Choose one of the options."],
    empty: "No monitors yet.",
  },
  {
    ...{ path: "webhooks/deliveries", method: "listDeliveries" },
    filter: {
      ...{ status: "failed", event_id: EVENT_ID, monitor_id: MONITOR_ID, url: "https://acme.example/hook?a=b" },
      ...{ ...period, tests: "only" },
    },
    asked: {
      ...{ status: "failing", eventId: EVENT_ID, monitorId: MONITOR_ID, webhookUrl: "https://acme.example/hook?a=b" },
      ...{ ...asPeriod, testsOnly: true, page: { limit: 25 } },
    },
    refused: ["url", "javascript:alert(1)", "Enter the whole URL"],
    empty: "No deliveries yet.",
  },
  {
    ...{ path: "requests", method: "listRequests" },
    filter: {
      ...{ outcome: "rate_limited", key: KEY, operation: "GET /v1/entities/:id/snapshots", request_id: "req_1" },
      ...period,
    },
    asked: {
      ...{ outcome: "rate_limited", apiKeyId: KEY, requestId: "req_1", ...asPeriod, page: { limit: 50 } },
      operation: { method: "GET", route: "/v1/entities/:id/snapshots" },
    },
    refused: ["outcome", "unauthorized", "Choose one of the listed outcomes."],
    empty: "No API requests in the Test environment in the last 7 days.",
  },
  {
    ...{ path: "organization/audit-log", method: "listAuditEntries" },
    filter: { actor: USER, action: "user.signed_in", ...period },
    asked: { actor: USER, action: "user.signed_in", ...asPeriod, page: { limit: 50 } },
    refused: ["actor", "somebody", "Choose one of the listed people."],
    empty: "No actions match.",
  },
  {
    ...{ path: `lists/${JOB_ID}`, method: "listJobResults", filter: { decision: "review", outcome: "not_found" } },
    asked: { decision: "DECISION_REVIEW", outcome: "ROW_OUTCOME_NOT_FOUND", limit: 50 },
    refused: ["decision", "x", "Choose one of the options."],
    empty: "No row has an answer.",
    takesAnyPlace: true,
  },
];

describe.each(lists)("the list $path", ({ path, method, filter, asked, refused, empty, takesAnyPlace }) => {
  const page = (query: Readonly<Record<string, string>> = {}) =>
    visitor.get(`/test/${path}?${new URLSearchParams(query)}`);

  beforeEach(() => {
    dashboard.state.jobs = [jobOf()];
  });

  test("is filtered by its service, keeps the filter in its form, and on later pages", async () => {
    const { state } = dashboard;
    state.hasOlder = true;
    state.vendors = Array.from({ length: 51 }, () => ({ entity: { id: newId("ent"), legalName: "A ~ B" } }));
    state.jobResults = Array.from({ length: 51 }, (_, index) => jobResultOf({ row: index + 1 }));
    state.verifications = [verificationOf()];
    state.monitors = [monitorOf()];
    state.deliveries = [deliveryOf()];
    state.keys = [keyOf({ id: KEY })];
    state.requests = [{ at, operation: { method: "GET", route: "/v1/entities/:id/snapshots" }, apiKeyId: KEY }];
    state.auditEntries = [{ id: "b".repeat(24), at, actor: USER, actorEmail: "ada@acme.example" }];
    const { status, text } = await page(filter);
    expect(status).toBe(200);
    const caller = { actor: "usr_1", tenant: { organizationId: "org_1", environment: "ENVIRONMENT_SANDBOX" } };
    expect(dashboard.callsOf(method)).toMatchObject([{ ...asked, caller }]);
    for (const [name, value] of Object.entries(filter)) {
      expect([name, text.includes(`<option value="${value}" selected`) || text.includes(` value="${value}">`)]).toEqual(
        [name, true],
      );
    }
    const [, older] = /href="([^"]+)" rel="next"/.exec(text)!;
    const link = new URL(older!.replaceAll("&amp;", "&"), "https://dashboard.example");
    const { after, ...kept } = Object.fromEntries(link.searchParams);
    expect([kept, after]).toEqual([filter, expect.any(String)]);
    expect(text).toContain("This is one page of a longer list.");
    expect((await visitor.get(link.pathname + link.search)).status).toBe(200);
    const [first, second] = dashboard.callsOf(method);
    expect(second).toMatchObject(asked);
    expect(second).not.toEqual({ ...first, caller: second.caller });
  });

  test("refuses what is no filter of it, without repeating it or reading anything", async () => {
    const [name, value, problem] = refused;
    const { status, text } = await page({ [name]: value });
    expect(status).toBe(400);
    expect(text).toMatch(new RegExp(`id="${name}-problem">${problem}`));
    expect(text).not.toContain(`"${value}"`);
    expect((await page({ after: "nowhere" })).status).toBe(takesAnyPlace ? 200 : 400);
    expect(dashboard.callsOf(method)).toHaveLength(takesAnyPlace ? 1 : 0);
  });

  test("says that there is nothing, and while its service is unavailable that it can’t be shown", async () => {
    expect((await page()).text).toContain(empty);
    dashboard.fail(method, "service_unavailable");
    const { status, text } = await page();
    expect(status).toBe(503);
    expect(text).toContain("can’t be shown, because a service is temporarily unavailable");
    expect(text).toContain('href="/test/api-keys"');
  });
});
