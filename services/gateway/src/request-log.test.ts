import { timestampDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { silentLogger as logger, untilEnd } from "@vvs/testing";
import type { AnsweredCall } from "./http/exchange.ts";
import { startRequestReports } from "./request-log.ts";
import { startTestGateway, until } from "./testing/gateway.ts";
import { monitor } from "./testing/samples.ts";

type Sent = Parameters<Parameters<typeof startRequestReports>[0]["account"]["reportRequests"]>[0];

const at = new Date("2026-03-01T12:00:00.000Z");

const keyOf = (organizationId: string) => ({ id: "key_1", tenant: { organizationId, environment: "live" } }) as const;

function callOf(change: Partial<AnsweredCall> = {}): AnsweredCall {
  return {
    route: "/v1/entities",
    objectId: "",
    requestId: "req_1",
    method: "GET",
    status: 200,
    durationMs: 2.6,
    error: "",
    ...change,
  };
}

/** Reports only at the end. */
async function reporting() {
  const sent: Sent[] = [];
  const account = {
    async reportRequests(request: Sent) {
      sent.push(request);
      return {} as never;
    },
  };
  const reports = untilEnd(startRequestReports({ account, logger, now: () => at }));
  await new Promise((resolve) => setImmediate(resolve));
  return { reports, sent };
}

/** Returns the numbers of requests and of those left out by organization, of all reports. */
function totals(sent: readonly Sent[]): Record<string, [requests: number, leftOut: number]> {
  const sums: Record<string, [number, number]> = {};
  for (const { tenant, requests, leftOut } of sent.flatMap(({ tenants }) => tenants!)) {
    const [before, leftOutBefore] = sums[tenant!.organizationId!] ?? [0, 0];
    sums[tenant!.organizationId!] = [before + requests!.length, leftOutBefore + Number(leftOut)];
  }
  return sums;
}

test("requests are reported by organization and environment, with what was called and how it ended", async () => {
  const { reports, sent } = await reporting();
  reports.record(keyOf("org_1"), callOf());
  reports.record(keyOf("org_2"), callOf({ status: 404, error: "monitor_not_found", objectId: "mon_1" }));
  reports.record(keyOf("org_1"), callOf({ status: 0 }));
  await reports.close();
  expect(sent).toHaveLength(1);
  const [first, second] = sent[0]!.tenants!;
  expect(first!.tenant).toEqual({ organizationId: "org_1", environment: expect.any(Number) });
  const { at: time, ...rest } = first!.requests![0]!;
  expect(timestampDate(time as never)).toEqual(at);
  expect(rest).toEqual({
    operation: { method: "GET", route: "/v1/entities" },
    objectId: "",
    status: 200,
    durationMs: 3n,
    apiKeyId: "key_1",
    requestId: "req_1",
    error: "",
  });
  expect(first!.requests!.map(({ status }) => status)).toEqual([200, 0]);
  expect(second!.requests).toMatchObject([{ status: 404, error: "monitor_not_found", objectId: "mon_1" }]);
});

test("an organization with more requests than can wait leaves out the rest, and others lose none", async () => {
  const { reports, sent } = await reporting();
  for (let call = 0; call < 1_200; call++) reports.record(keyOf("org_busy"), callOf());
  for (let call = 0; call < 300; call++) reports.record(keyOf("org_limited"), callOf({ status: 429 }));
  reports.record(keyOf("org_limited"), callOf());
  reports.record(keyOf("org_quiet"), callOf());
  await reports.close();
  expect(totals(sent)).toEqual({ org_busy: [1_000, 200], org_limited: [101, 200], org_quiet: [1, 0] });
});

test("memory is bounded however many organizations call, and what is left out is counted for each", async () => {
  const { reports, sent } = await reporting();
  const organizations = Array.from({ length: 30 }, (_, index) => `org_${index}`);
  for (const name of organizations) for (let call = 0; call < 700; call++) reports.record(keyOf(name), callOf());
  await reports.close();
  const sums = Object.values(totals(sent));
  expect(sums.reduce((sum, [requests]) => sum + requests, 0)).toBe(20_000);
  expect(sums.map(([requests, leftOut]) => requests + leftOut)).toEqual(Array(30).fill(700));
  const sizes = sent.map(({ tenants }) => tenants!.reduce((sum, { requests }) => sum + requests!.length, 0));
  expect(Math.max(...sizes)).toBeLessThan(3_000);
});

test("each call of a valid key is recorded, also a refused one, with its route, and with the id in its path only if that has the form of the route's ids", async () => {
  const recorded: AnsweredCall[] = [];
  const gateway = await startTestGateway({
    recordCall: (_key, call) => void recorded.push(call),
  });
  const { value } = gateway.account.createKey({ limitPerMinute: 4 });
  gateway.monitor.on("getMonitor", () => ({ monitor }));
  const headers = { "X-Request-Id": "mine-1" };
  await gateway.send("GET", `/v1/monitors/${monitor.id}`, { key: value, headers });
  await gateway.send("GET", "/v1/monitors/912345678", { key: value });
  await gateway.send("GET", `/v1/entities/${monitor.id}`, { key: value });
  await gateway.send("POST", "/v1/verify", { key: value, body: "{" });
  await gateway.send("GET", "/v1/monitors?secret=1", { key: value });
  await gateway.send("GET", "/v1/monitors/nothing", { key: "svc_live_unknown" });
  await gateway.send("GET", "/v1/912345678", { key: value });
  await gateway.send("GET", "/v1/health");
  await until(() => recorded.length === 5);
  expect(recorded.map(({ durationMs: _, requestId: _id, ...call }) => call)).toEqual(
    [
      { route: "/v1/monitors/:id", objectId: monitor.id, status: 200, error: "" },
      { route: "/v1/monitors/:id", objectId: "", status: 404, error: "monitor_not_found" },
      { route: "/v1/entities/:id", objectId: "", status: 404, error: "entity_not_found" },
      { route: "/v1/verify", objectId: "", status: 400, error: "invalid_request", method: "POST" },
      { route: "/v1/monitors", objectId: "", status: 429, error: "rate_limited" },
    ].map((call) => ({ method: "GET", ...call })),
  );
  expect(recorded[0]!.requestId).toBe("mine-1");
  expect(JSON.stringify(recorded)).not.toMatch(/912345678|secret/);
});

test("a call whose client hangs up before the answer has none", async () => {
  const recorded = Promise.withResolvers<AnsweredCall>();
  const called = Promise.withResolvers<void>();
  const gateway = await startTestGateway({ recordCall: (_key, call) => recorded.resolve(call) });
  const { value } = gateway.account.createKey();
  gateway.monitor.on("getMonitor", () => {
    called.resolve();
    return new Promise(() => undefined) as never;
  });
  const leaving = new AbortController();
  const url = `${gateway.baseUrl}/v1/monitors/${monitor.id}`;
  const call = fetch(url, { headers: { authorization: `Bearer ${value}` }, signal: leaving.signal });
  await called.promise;
  leaving.abort();
  await expect(call).rejects.toThrow();
  expect(await recorded.promise).toMatchObject({ status: 0, objectId: monitor.id });
});
