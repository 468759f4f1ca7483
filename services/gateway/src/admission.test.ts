import { once } from "node:events";
import { request } from "node:http";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { type Admit, createAdmission } from "@vvs/fair-queue";
import { newId } from "@vvs/ids";
import { JobStatus, RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { eventually } from "@vvs/testing";
import { startTestGateway } from "./testing/gateway.ts";

/** Whose requests asked to be admitted. */
const came: unknown[] = [];
let isFull = false;
let admit: Admit = (_call, work) => work();
/** Number of requests whose turn came. */
let running = 0;
const gateway = await startTestGateway({
  async admit(call, work) {
    came.push(call.owner);
    if (isFull) throw new ServiceError("rate_limited", { retryAfterSeconds: 1 });
    return admit(call, () => {
      running++;
      return work();
    });
  },
});

test("a request is admitted on behalf of its organization and environment", async () => {
  const { value, record } = gateway.account.createKey({ environment: "sandbox" });
  await gateway.send("GET", "/v1/entities", { key: value });
  expect(came).toEqual([{ class: "direct", organizationId: record.tenant!.organizationId, environment: "sandbox" }]);
});

test("what may not wait is refused with all headers, after 401 and before its body is read, and is not counted", async () => {
  isFull = true;
  expect((await gateway.send("POST", "/v1/entities", { body: {} })).status).toBe(401);
  const { value: key } = gateway.account.createKey({ limitPerMinute: 7 });
  for (const type of ["application/json", "text/plain"]) {
    const refused = await gateway.send("POST", "/v1/entities", { key, body: "{", headers: { "Content-Type": type } });
    expect([refused.status, refused.body.error, refused.headers.get("retry-after")]).toEqual([
      429,
      "rate_limited",
      "1",
    ]);
    expect(refused.headers.get("ratelimit")).toMatch(/^"default";r=7;t=\d+$/);
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("7");
  }
  isFull = false;
  expect((await gateway.send("GET", "/v1/nothing", { key })).status).toBe(404);
  expect((await gateway.send("GET", "/v1/entities/none", { key })).headers.get("x-ratelimit-remaining")).toBe("6");
});

/** Begins a POST whose body does not arrive. */
function sendSlowly(path: string, key: string) {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json", "Content-Length": 1_000 };
  const slow = request(`${gateway.baseUrl}${path}`, { method: "POST", headers });
  slow.on("error", () => undefined).write("{");
  return slow;
}

test("a client that sends its body slowly holds no seat", async () => {
  const { value: key } = gateway.account.createKey();
  admit = createAdmission({ seats: 1 });
  running = 0;
  const slow = sendSlowly("/v1/entities", key);
  await eventually(() => running === 1);
  expect((await gateway.send("GET", "/v1/entities/none", { key })).status).toBe(404);
  slow.destroy();
});

test("at most four bodies of an organization's jobs are in memory", async () => {
  const { value: key } = gateway.account.createKey();
  admit = createAdmission({ seats: 64 });
  running = 0;
  const before = came.length;
  const slow = Array.from({ length: 6 }, () => sendSlowly("/v1/jobs", key));
  await eventually(() => came.length === before + 6 && running >= 4);
  expect((await gateway.send("GET", "/v1/entities/none", { key })).status).toBe(404);
  expect(running).toBe(4 + 1);
  for (const each of slow) each.destroy();
});

test("a client that reads a download slowly holds no seat", async () => {
  const { value: key } = gateway.account.createKey();
  admit = createAdmission({ seats: 1 });
  const results = Array.from({ length: 500 }, () => ({ outcome: RowOutcome.PASS, legalName: "A".repeat(1_000) }));
  gateway.jobs.on("getJob", () => ({ job: { status: JobStatus.COMPLETED, counts: {}, createdAt: timestampNow() } }));
  let pages = 0;
  gateway.jobs.on("listJobResults", () => ({ results, nextRow: ++pages }));
  const headers = { Authorization: `Bearer ${key}`, Accept: "text/csv" };
  const slow = request(`${gateway.baseUrl}/v1/jobs/${newId("job")}/results`, { headers }).end();
  const [response] = await once(slow, "response");
  expect(response.statusCode).toBe(200);
  let known = 0;
  await eventually(
    () => {
      const standsStill = known === pages;
      known = pages;
      return standsStill;
    },
    { everyMs: 500 },
  );
  expect((await gateway.send("GET", "/v1/entities/none", { key })).status).toBe(404);
  slow.on("error", () => undefined).destroy();
});

test.each([
  [16, "of a route", "getEntity", `/v1/entities/${newId("ent")}`, 404],
  [4, "for a list", "listEntities", "/v1/entities", 200],
] as const)(
  "more than %i requests %s wait for those of their organization, beside its verifications and others' requests",
  async (most, _, method, path, status) => {
    admit = createAdmission({ seats: 64 });
    const [{ value: flooding }, { value: other }] = [gateway.account.createKey(), gateway.account.createKey()];
    const held = Promise.withResolvers<void>();
    let asked = 0;
    gateway.entity.on(method, async () => {
      asked++;
      await held.promise;
      if (status === 404) throw new ServiceError("entity_not_found");
      return {};
    });
    gateway.entity.on("lookUp", () => Promise.reject(new ServiceError("entity_not_found")));
    gateway.verification.on("verify", () => Promise.reject(new ServiceError("entity_not_found")));
    const before = came.length;
    const flood = Array.from({ length: 20 }, () => gateway.send("GET", path, { key: flooding }));
    await eventually(() => came.length === before + 20 && asked === most);
    const body = { identifiers: { uei: "ABCDEFGHJK71" } };
    expect((await gateway.send("POST", "/v1/entities/lookup", { key: other, body })).status).toBe(404);
    const verify = { ...body, checks: ["sam_registration"], mode: "cached" };
    const verifications = Array.from({ length: 20 }, () =>
      gateway.send("POST", "/v1/verify", { key: flooding, body: verify }),
    );
    for (const { status } of await Promise.all(verifications)) expect(status).toBe(404);
    expect(asked).toBe(most);
    held.resolve();
    for (const answer of await Promise.all(flood)) expect(answer.status).toBe(status);
  },
);
