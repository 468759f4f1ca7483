import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { PageRequestSchema, type PositionSchema } from "@vvs/proto/common/v1/common";
import type { Tenant } from "@vvs/tenant";
import { testAccount } from "../testing/account.ts";
import { BURST } from "./allowance.ts";
import type { LoggedRequest, RequestQuery } from "./request-log.ts";
import { removeSurplus } from "./sandbox-retention.ts";

const account = await testAccount();

const tenantOf = (organizationId: string, environment: Tenant["environment"] = "live") => ({
  organizationId,
  environment,
});
const minutesAgo = (minutes: number) => new Date(account.clock.now.getTime() - minutes * 60_000);
const page = (limit: number, after?: MessageInitShape<typeof PositionSchema>) =>
  create(PageRequestSchema, { limit, ...(after && { after }) });

function requestOf(change: Partial<LoggedRequest> = {}): LoggedRequest {
  return {
    created_at: minutesAgo(1),
    operation: "GET /v1/entities",
    status: 200,
    duration_ms: 12,
    api_key_id: "key_1",
    request_id: "req_1",
    outcome: "ok",
    ...change,
  };
}

let reportCount = 0;
const report = (tenant: Tenant, requests: readonly LoggedRequest[], leftOut = 0) =>
  account.domain.requestLog.report(`report_${reportCount++}`, [{ tenant, requests, leftOut }]);

async function list(tenant: Tenant, query: Partial<RequestQuery> = {}) {
  return account.domain.requestLog.list(tenant, {
    outcome: "",
    keyId: "",
    operation: undefined,
    requestId: "",
    from: undefined,
    to: undefined,
    page: page(100),
    ...query,
  });
}

const idsOf = async (tenant: Tenant, query: Partial<RequestQuery> = {}) =>
  (await list(tenant, query)).items.map(({ request_id }) => request_id);

test("a report takes effect once, even if it is repeated concurrently", async () => {
  const tenant = tenantOf("org_once");
  const reported = [{ tenant, requests: [requestOf()], leftOut: 3 }];
  await Promise.all(Array.from({ length: 5 }, () => account.domain.requestLog.report("once", reported)));
  await account.domain.requestLog.report("once", reported);
  const { items, leftOut } = await list(tenant);
  expect(items).toMatchObject([{ organization_id: "org_once", environment: "live", ...requestOf() }]);
  expect(leftOut).toBe(3);
  expect(await account.domain.store.requestAllowances.findOne({ _id: "org_once:live" })).toMatchObject({
    left: BURST - 1,
  });
});

test("concurrent reports of several gateways are all stored, and all count against the allowance", async () => {
  const tenant = tenantOf("org_many");
  await Promise.all(Array.from({ length: 6 }, () => report(tenant, [requestOf()], 1)));
  const { items, leftOut } = await list(tenant);
  expect([items.length, leftOut]).toEqual([6, 6]);
  expect(await account.domain.store.requestAllowances.findOne({ _id: "org_many:live" })).toMatchObject({
    left: BURST - 6,
  });
});

test("what an allowance does not permit is left out and counted, and other organizations are not affected", async () => {
  const [busy, quiet] = [tenantOf("org_busy"), tenantOf("org_quiet")];
  await account.domain.store.requestAllowances.insertOne({ _id: "org_busy:live", left: 2.5, at: account.clock.now });
  const failed = { status: 500, outcome: "internal_error" };
  const requests = ["a", "b", "c"].map((request_id) => requestOf({ request_id, ...failed }));
  await account.domain.requestLog.report("busy", [
    { tenant: busy, requests: [requestOf({ request_id: "ok" }), ...requests], leftOut: 10 },
    { tenant: quiet, requests, leftOut: 0 },
  ]);
  expect((await idsOf(busy)).toSorted()).toEqual(["a", "b"]);
  expect((await list(busy)).leftOut).toBe(12);
  expect((await list(quiet)).items).toHaveLength(3);
  expect((await list(quiet)).leftOut).toBe(0);
});

test("requests that are left out are counted by the hour, for the period of the list", async () => {
  const tenant = tenantOf("org_hours");
  const before = account.clock.now;
  await report(tenant, [], 1);
  account.advance(60 * 60_000);
  await report(tenant, [], 2);
  const hour = new Date(account.clock.now.getTime() - 1);
  expect((await list(tenant)).leftOut).toBe(3);
  const later = new Date(account.clock.now.getTime() + 30 * 60_000);
  expect((await list(tenant, { from: later })).leftOut).toBe(2);
  expect((await list(tenant, { to: hour })).leftOut).toBe(1);
  account.clock.now = before;
});

test.each<[name: string, query: Partial<RequestQuery>, found: string[]]>([
  ["success", { outcome: "2xx" }, ["ok", "head"]],
  ["errors of the client", { outcome: "4xx" }, ["limited", "missing"]],
  ["errors of ours", { outcome: "5xx" }, ["failed"]],
  ["one error code", { outcome: "rate_limited" }, ["limited"]],
  ["no answer", { outcome: "no_answer" }, ["left"]],
  ["a key", { keyId: "key_2" }, ["failed"]],
  ["a method and route", { operation: "HEAD /v1/entities" }, ["head"]],
  ["a request id", { requestId: "missing" }, ["missing"]],
  ["a part of a request id", { requestId: "miss" }, []],
  [
    "a period",
    { from: new Date("2126-03-01T11:56:00.000Z"), to: new Date("2126-03-01T11:58:00.000Z") },
    ["limited", "missing"],
  ],
  ["all of them", { outcome: "4xx", keyId: "key_1", operation: "GET /v1/entities", requestId: "limited" }, ["limited"]],
])("requests are found by %s", async (name, query, found) => {
  const tenant = tenantOf(`org_filter_${name}`);
  await report(tenant, [
    requestOf({ request_id: "ok", created_at: minutesAgo(1) }),
    requestOf({ request_id: "head", created_at: minutesAgo(2), operation: "HEAD /v1/entities" }),
    requestOf({ request_id: "limited", created_at: minutesAgo(3), status: 429, outcome: "rate_limited" }),
    requestOf({ request_id: "missing", created_at: minutesAgo(4), status: 404, outcome: "entity_not_found" }),
    requestOf({
      request_id: "failed",
      created_at: minutesAgo(5),
      status: 503,
      outcome: "service_unavailable",
      api_key_id: "key_2",
    }),
    requestOf({ request_id: "left", created_at: minutesAgo(6), status: 0, outcome: "no_answer" }),
  ]);
  const { items, operations } = await list(tenant, query);
  expect(items.map(({ request_id }) => request_id)).toEqual(found);
  expect(operations.toSorted()).toEqual(["GET /v1/entities", "HEAD /v1/entities"]);
});

test("pages go on where the last one ended, also within one millisecond", async () => {
  const tenant = tenantOf("org_pages");
  const requests = Array.from({ length: 5 }, (_, index) => requestOf({ request_id: `r${index}` }));
  await report(tenant, requests);
  const seen: string[] = [];
  let after: Awaited<ReturnType<typeof list>>["next"];
  do {
    const { items, next } = await list(tenant, { page: page(2, after) });
    seen.push(...items.map(({ request_id }) => request_id));
    after = next;
  } while (after);
  expect(seen.toSorted()).toEqual(["r0", "r1", "r2", "r3", "r4"]);
});

test("an organization and an environment only see their own requests", async () => {
  const [mine, theirs] = [tenantOf("org_mine"), tenantOf("org_theirs")];
  await report(mine, [requestOf({ request_id: "mine" })], 5);
  expect(await idsOf(mine)).toEqual(["mine"]);
  for (const other of [theirs, tenantOf("org_mine", "sandbox")]) {
    for (const query of [{}, { requestId: "mine" }]) {
      expect(await list(other, query)).toEqual({ items: [], next: undefined, operations: [], leftOut: 0 });
    }
  }
});

test("a request of a gateway whose clock is ahead is kept no longer than others", async () => {
  const tenant = tenantOf("org_ahead");
  await report(tenant, [requestOf({ created_at: minutesAgo(-60) })]);
  expect((await list(tenant)).items).toMatchObject([{ created_at: account.clock.now }]);
});

test.each([
  ["without an id", "", [{ tenant: tenantOf("org_a"), requests: [], leftOut: 0 }]],
  [
    "that repeats an organization",
    "repeats",
    Array.from({ length: 2 }, () => ({ tenant: tenantOf("org_a"), requests: [], leftOut: 0 })),
  ],
])("a report %s is refused", async (_name, id, reported) => {
  await expect(account.domain.requestLog.report(id, reported)).rejects.toMatchObject({ code: "invalid_request" });
});

test("a report of too many requests is refused", async () => {
  const requests = Array.from({ length: 10_001 }, () => requestOf());
  await expect(report(tenantOf("org_a"), requests)).rejects.toMatchObject({ code: "invalid_request" });
});

test("the operations of a log are read from its index, without its requests", async () => {
  const tenant = tenantOf("org_operations");
  await report(
    tenant,
    Array.from({ length: 50 }, (_, index) => requestOf({ operation: `GET /v1/${index % 2}` })),
  );
  const { requestLog, db } = account.domain.store;
  const explained = await db.command({
    explain: {
      distinct: requestLog.collectionName,
      key: "operation",
      query: { organization_id: tenant.organizationId, environment: tenant.environment },
    },
    verbosity: "executionStats",
  });
  expect(explained.executionStats).toMatchObject({ totalDocsExamined: 0 });
  expect(explained.executionStats.totalKeysExamined).toBeLessThan(10);
});

test("the sandbox's oldest requests beyond an organization's number are removed, but no live ones and none of the last day", async () => {
  const org = "org_surplus";
  const [live, sandbox] = [tenantOf(org), tenantOf(org, "sandbox")];
  const requests = [48, 36, 30, 12].map((hours) =>
    requestOf({ request_id: `${hours} h`, created_at: minutesAgo(hours * 60) }),
  );
  for (const tenant of [live, sandbox]) await report(tenant, requests);
  const remove = (newest: number) =>
    removeSurplus({
      store: account.domain.store,
      newest,
      now: account.clock.now,
      stopping: new AbortController().signal,
    });
  expect(await remove(3)).toBe(1);
  expect(await idsOf(sandbox)).toEqual(["12 h", "30 h", "36 h"]);
  expect(await remove(1)).toBe(2);
  expect(await idsOf(sandbox)).toEqual(["12 h"]);
  expect(await idsOf(live)).toHaveLength(4);
});
