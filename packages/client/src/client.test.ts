import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, jest, test } from "@jest/globals";
import { createClient } from "./index.ts";
import { dropped, json, type ScriptedServer, startServer } from "./testing/scripted-server.ts";
import { VERSION } from "./version.ts";

const clientOf = (server: ScriptedServer) => createClient({ baseUrl: `${server.url}/`, apiKey: "svc_test_key" });

const entity = { checks: ["sam_registration" as const], entity_id: "ent_1" };
type Client = ReturnType<typeof createClient>;
const operations: [string, (client: Client) => Promise<unknown>, ...(string | undefined)[]][] = [
  ["POST /v1/entities/lookup", (client) => client.lookup({ legal_name: "A" }), '{"legal_name":"A"}'],
  ["POST /v1/entities", (client) => client.createEntity({ legal_name: "A" }), '{"legal_name":"A"}'],
  ["GET /v1/entities/ent_1", (client) => client.getEntity("ent_1")],
  ["GET /v1/entities?limit=2&external_id=V+1", (client) => client.listEntities({ limit: 2, external_id: "V 1" })],
  ["GET /v1/entities/ent_1/snapshots?cursor=c", (client) => client.listSnapshots("ent_1", { cursor: "c" })],
  ["PUT /v1/entities/ent_1/external_id", (client) => client.setExternalId("ent_1", null), '{"external_id":null}'],
  ["POST /v1/verify", (client) => client.verify({ ...entity, mode: "cached" })],
  ["POST /v1/verifications", (client) => client.createVerification({ ...entity, mode: "cached" })],
  ["GET /v1/verifications/ver_1", (client) => client.getVerification("ver_1")],
  ["GET /v1/verifications/ver_1/receipt", (client) => client.getReceipt("ver_1")],
  ["GET /.well-known/jwks.json", (client) => client.getReceiptKeys()],
  ["GET /v1/verifications?entity_id=ent_1", (client) => client.listVerifications({ entity_id: "ent_1" })],
  ["GET /v1/evidence/evd_1", (client) => client.getEvidence("evd_1")],
  ["GET /v1/evidence/evd_2", (client) => client.getEvidence("https://api.example.com/v1/evidence/evd_2")],
  ["GET /v1/providers", (client) => client.listProviders()],
  [
    "POST /v1/jobs",
    (client) => client.createJob({ checks: ["sam_registration"], mode: "cached", vendors: [{ legal_name: "A" }] }),
  ],
  ["GET /v1/jobs/job_1", (client) => client.getJob("job_1")],
  ["GET /v1/jobs?limit=1", (client) => client.listJobs({ limit: 1 })],
  ["GET /v1/jobs/job_1/results?outcome=fail", (client) => client.listJobResults("job_1", { outcome: "fail" })],
  ["GET /v1/jobs/job_1/receipt", (client) => client.getJobReceipt("job_1")],
  ["DELETE /v1/jobs/job_1", (client) => client.cancelJob("job_1"), ""],
  ["POST /v1/monitors", (client) => client.createMonitor(entity)],
  ["GET /v1/monitors/mon_1", (client) => client.getMonitor("mon_1")],
  [
    "GET /v1/monitors?entity_id=ent_1&external_id=V-1",
    (client) => client.listMonitors({ entity_id: "ent_1", external_id: "V-1" }),
  ],
  // @ts-expect-error A wrong name of a parameter does not compile.
  ["GET /v1/monitors?entityId=ent_1", (client) => client.listMonitors({ entityId: "ent_1" })],
  [
    "PATCH /v1/monitors/mon_1",
    (client) => client.updateMonitor("mon_1", { webhook_url: null }),
    '{"webhook_url":null}',
  ],
  ["DELETE /v1/monitors/mon_1", (client) => client.cancelMonitor("mon_1"), ""],
  ["GET /v1/monitors/mon_1/runs", (client) => client.listMonitorRuns("mon_1")],
  ["GET /v1/monitors/mon_1/events", (client) => client.listMonitorEvents("mon_1")],
  ["GET /v1/events", (client) => client.listEvents()],
  ["GET /v1/events?after=start&wait=20&limit=5", (client) => client.readEvents({ after: "start", wait: 20, limit: 5 })],
];

test.each(operations)("%s", async (line, run, ...[body]) => {
  await using server = await startServer(json(200, { providers: [] }));
  await run(clientOf(server));
  expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([line]);
  if (body !== undefined) expect(server.requests[0]!.body).toBe(body);
});

test("every operation of the OpenAPI document has a method, and every method an operation", () => {
  const file = join(import.meta.dirname, "../../../docs/openapi.json");
  const { paths } = JSON.parse(readFileSync(file, "utf8")) as { paths: Record<string, object> };
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const called = operations.map(([line]) => line.replace(/\?.*/, "").replace(/[a-z]{3}_\d/, "{id}"));
  const unauthenticated = ["GET /v1/health", "GET /v1/openapi.json"];
  expect([...new Set([...called, ...unauthenticated])].toSorted()).toEqual(documented.toSorted());
});

test("an id stays in its place of the path", async () => {
  await using server = await startServer(json(404, {}));
  await expect(clientOf(server).getEntity("a/b?c")).rejects.toMatchObject({ status: 404 });
  expect(server.requests[0]!.url).toBe("/v1/entities/a%2Fb%3Fc");
  for (const id of ["", ".", ".."]) expect(() => clientOf(server).getEntity(id)).toThrow(TypeError);
});

test("an iteration reads the pages one after the other and keeps the filter", async () => {
  const page = (id: string, next_cursor: string | null) => json(200, { verifications: [{ id }], next_cursor });
  await using server = await startServer(page("ver_2", "c 1"), dropped, page("ver_1", null));
  const ids: string[] = [];
  for await (const { id } of clientOf(server).allVerifications({ entity_id: "ent_1", limit: 1 })) ids.push(id);
  expect(ids).toEqual(["ver_2", "ver_1"]);
  expect(server.requests.map(({ url }) => url)).toEqual([
    "/v1/verifications?entity_id=ent_1&limit=1",
    "/v1/verifications?entity_id=ent_1&limit=1&cursor=c+1",
    "/v1/verifications?entity_id=ent_1&limit=1&cursor=c+1",
  ]);
});

test("an iteration that is left reads no further page", async () => {
  await using server = await startServer(json(200, { monitors: [{ id: "mon_1" }], next_cursor: "more" }));
  for await (const { id } of clientOf(server).allMonitors()) {
    expect(id).toBe("mon_1");
    break;
  }
  expect(server.requests).toHaveLength(1);
});

test("following events goes on after the cursor of the page before, also after a broken connection", async () => {
  const page = (id: string | undefined, next_cursor: string) => json(200, { events: id ? [{ id }] : [], next_cursor });
  await using server = await startServer(page("evt_1", "c1"), page(undefined, "c1"), dropped, page("evt_2", "c2"));
  const ids: string[] = [];
  for await (const { events, next_cursor } of clientOf(server).followEvents({ after: "start" })) {
    ids.push(...events.map(({ id }) => id));
    if (next_cursor === "c2") break;
  }
  expect(ids).toEqual(["evt_1", "evt_2"]);
  expect(server.requests.map(({ url }) => new URL(url, server.url).searchParams.get("after"))).toEqual([
    "start",
    "c1",
    "c1",
    "c1",
  ]);
});

test("following new events waits only after it has a cursor, so that a repeated call misses none", async () => {
  const page = (id: string | undefined, next_cursor: string) => json(200, { events: id ? [{ id }] : [], next_cursor });
  await using server = await startServer(dropped, page(undefined, "c1"), dropped, page("evt_1", "c2"));
  for await (const { events } of clientOf(server).followEvents({ after: "now", limit: 5 }))
    if (events.length > 0) break;
  expect(server.requests.map(({ url }) => url)).toEqual([
    "/v1/events?after=now&wait=0&limit=5",
    "/v1/events?after=now&wait=0&limit=5",
    "/v1/events?after=c1&wait=20&limit=5",
    "/v1/events?after=c1&wait=20&limit=5",
  ]);
});

test("waiting for events outlasts the timeout of an attempt", async () => {
  await using server = await startServer((response) => {
    setTimeout(() => response.end('{"events":[],"next_cursor":"c"}'), 300);
  });
  const client = createClient({ baseUrl: server.url, apiKey: "svc_test_key", attemptTimeoutMs: 50 });
  expect(await client.readEvents({ after: "start", wait: 10 })).toEqual({ events: [], next_cursor: "c" });
  expect(server.requests).toHaveLength(1);
});

test("reading events without a wait has as much time as any other attempt", async () => {
  const timeout = jest.spyOn(AbortSignal, "timeout");
  await using server = await startServer(json(200, { events: [], next_cursor: "c" }));
  await clientOf(server).readEvents({ after: "start" });
  expect(timeout.mock.calls).toEqual([[30_000]]);
  timeout.mockRestore();
});

test("the version is that of the package", async () => {
  const { default: manifest } = await import("../package.json", { with: { type: "json" } });
  expect(VERSION).toBe(manifest.version);
});
