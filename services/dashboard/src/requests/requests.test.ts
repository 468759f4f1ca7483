import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { ENTITY_ID } from "../testing/fake-entity.ts";
import { keyOf } from "../testing/fake-services.ts";

const { dashboard, visitor } = dashboardPerTest();
beforeEach(() => {
  dashboard.state.keys = [keyOf({ id: KEY, name: "Billing <1>" })];
  dashboard.state.requests = [request];
});
const KEY = newId("key");
const request = {
  at: timestampFromDate(new Date("2026-11-21T09:30:15Z")),
  operation: { method: "GET", route: "/v1/entities/:id/snapshots" },
  objectId: ENTITY_ID,
  status: 200,
  durationMs: 42n,
  apiKeyId: KEY,
  requestId: "req_of_mine <1>",
};

const page = (path: string) => visitor.get(path);

const asked = () => dashboard.callsOf("listRequests")[0];

test("requests are shown with what was called, how it ended, how long it took, with which key and id, and when", async () => {
  dashboard.state.requests = [
    request,
    { ...request, status: 429, error: "rate_limited", objectId: "", apiKeyId: "key_gone" },
    { ...request, status: 503, error: "service_unavailable", operation: { method: "POST", route: "/v1/verify" } },
    { ...request, status: 0, durationMs: 12_345n },
    { ...request, operation: { method: "GET", route: "/v1/jobs/:id/results" }, objectId: "job_1" },
    { ...request, operation: { method: "GET", route: "/v1/things/:id" }, objectId: "thing_1" },
  ];
  const { status, text } = await page("/live/requests");
  expect(status).toBe(200);
  for (const shown of [
    `GET /v1/entities/<a href="/live/vendors/${ENTITY_ID}">${ENTITY_ID}</a>/snapshots`,
    '<span class="state pass">200</span>',
    "42 ms",
    "Billing &lt;1&gt;",
    "req_of_mine &lt;1&gt;",
    "2026-11-21 09:30:15 UTC",
    "GET /v1/entities/{id}/snapshots",
    'GET /v1/jobs/<a href="/live/lists/job_1">job_1</a>/results',
    "GET /v1/things/thing_1",
    '<span class="state error">429</span> <code>rate_limited</code>',
    "key_gone",
    "POST /v1/verify",
    '<span class="state failed">503</span> <code>service_unavailable</code>',
    "no answer",
    "12.3 s",
    "kept for 7 days",
  ]) {
    expect(text).toContain(shown);
  }
  expect(text).not.toContain("not in the log");
  expect(asked()).toEqual({
    caller: expect.objectContaining({ tenant: { organizationId: "org_1", environment: "ENVIRONMENT_LIVE" } }),
    page: { limit: 50 },
  });
});

test.each([
  ["outcome", "lost"],
  ["outcome", "unauthorized"],
  ["key", "Billing"],
  ["operation", "GET /v1/entities?tin=1"],
  ["request_id", "912-34-5678"],
  ["request_id", "x".repeat(129)],
  ["from", "yesterday"],
  ["to", "2026-02-30T09:30"],
])("%s=%s is refused, not shown again, and nothing is read", async (name, text) => {
  const answer = await page(`/live/requests?${new URLSearchParams({ [name]: text })}`);
  expect(answer.status).toBe(400);
  expect(answer.text).toContain(`id="${name}-problem"`);
  expect(answer.text).not.toContain(`value="${text}"`);
  expect(dashboard.state.calls.join()).not.toContain("listRequests");
});

test("requests that are missing in the log are counted", async () => {
  dashboard.state.requestsLeftOut = 12_345n;
  const { text } = await page("/live/requests");
  expect(text).toContain("<strong>12,345 requests</strong> of this period are not in the log.");
  expect(text).toContain("up to 20,000 requests at any speed and then 60 per minute");
});

test.each([
  ["", "No API requests in the Live environment in the last 7 days."],
  ["?outcome=5xx", "No requests match."],
  [`?after=2026-11-20T08:00:00.000Z~${"a".repeat(24)}`, "There are no more requests."],
])("an empty list says why: %s", async (query, expected) => {
  dashboard.state.requests = [];
  expect((await page(`/live/requests${query}`)).text).toContain(expected);
});

test("without the names of keys the requests are still shown", async () => {
  dashboard.fail("listApiKeys", "service_unavailable");
  const { status, text } = await page("/live/requests");
  expect([status, text]).toEqual([200, expect.stringContaining(`<code>${KEY}</code>`)]);
});
