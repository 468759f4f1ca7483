import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { Decision, JobSchema, JobStatus, RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { startTestGateway } from "../testing/gateway.ts";

const file = await startTestGateway();

const terms = { checks: ["sam_registration"], mode: "realtime" };
const terms_ = '"checks":["sam_registration"],"mode":"realtime",';
/** Returns a value that is nested so deep. */
const nested = (depth: number): object => (depth === 1 ? {} : { a: nested(depth - 1) });
const one = { identifiers: { uei: "ABCDEFGHJK12" } };
const jobOf = (id: string) =>
  create(JobSchema, { id, status: JobStatus.QUEUED, total: 1, counts: {}, createdAt: timestampFromDate(new Date()) });

/** Answers as verification does; returns the rows and the start that it received. */
function takeJobs() {
  const id = newId("job");
  const { jobs } = file;
  jobs.calls.length = 0;
  jobs.on("addJobRows", () => ({ jobId: id }));
  jobs.on("startJob", () => ({ job: jobOf(id), replayed: false }));
  const received = (method: string) =>
    jobs.calls.filter((call) => call.method === method).map(({ request }) => request);
  return { id, rows: () => received("addJobRows").flatMap(({ rows }) => rows), start: () => received("startJob")[0] };
}

describe("POST /v1/jobs", () => {
  test("starts a job with its rows", async () => {
    const taken = takeJobs();
    const vendors = [
      { ...one, external_id: "V-1", legal_name: "Acme" },
      { identifiers: [{ type: "tin", value: "12-3456780" }], legal_name: "Acme" },
      { legal_name: "Only a name", address: "1 Main St" },
      { ...one, external_id: "V-4", legal_name: "Acme" },
      { ...one, legal_name: "Unknown entity (UEI ABCDEFGHJK12)" },
    ];
    const monitor = { frequency: "weekly", webhook_url: "https://example.com/hook" };
    const answer = await file.post(
      "/v1/jobs",
      { ...terms, vendors, monitor, max_age_seconds: 60 },
      { "Idempotency-Key": "k" },
    );
    expect(answer).toMatchObject({
      status: 202,
      body: { id: taken.id, status: "queued", total: 1, counts: { pass: 0 } },
    });
    expect(answer.headers.get("location")).toBe(`/v1/jobs/${taken.id}`);
    expect(taken.rows()).toMatchObject([
      { row: 1, externalId: "V-1", identifiers: { uei: "ABCDEFGHJK12" }, sameAs: 0 },
      { row: 2, identifiers: { tin: "123456780" }, legalName: "Acme" },
      { row: 3, legalName: "Only a name", address: "1 Main St" },
      { row: 4, externalId: "V-4", sameAs: 1 },
      { row: 5, identifiers: { uei: "ABCDEFGHJK12" }, legalName: "" },
    ]);
    expect(taken.start()).toMatchObject({
      total: 5,
      checks: [CheckType.SAM_REGISTRATION],
      maxAgeSeconds: 60,
      openRows: 10_000,
      monitor: { frequency: "weekly", webhookUrl: "https://example.com/hook" },
      idempotency: { path: "/v1/jobs" },
    });
  });

  test.each([
    ["an unknown field", { ...one, uei: "X" }, "uei"],
    ["an identifier that is not well-formed", { identifiers: { uei: "short" } }, "identifiers.uei"],
    ["a word that means none", { identifiers: { cage: "N/A" } }, "identifiers.cage"],
    ["nothing", {}, "vendor"],
    ["more than 16 kB", { legal_name: "x".repeat(16_000) }, "vendor"],
    ["14 levels", { ...one, a: nested(13) }, "a"],
    ["only a number", { external_id: "V-1" }, "vendor"],
    ["an entity and identifiers", { ...one, entity_id: newId("ent") }, "identifiers"],
    ["no object", 5, "vendor"],
    ["a TIN as its number", { identifiers: { tin: "123456780" }, external_id: "12-3456780" }, "external_id"],
    ["a TIN in its number", { identifiers: { tin: "123456780" }, external_id: "V-123456780" }, "external_id"],
  ])("a vendor with %s is an invalid row, and with refuse no job is made", async (_what, vendor, path) => {
    const taken = takeJobs();
    const vendors = [one, vendor];
    expect((await file.post("/v1/jobs", { ...terms, vendors })).status).toBe(202);
    expect(taken.rows()[1].problems).toMatchObject([{ path }]);
    file.jobs.calls.length = 0;
    const refused = await file.post("/v1/jobs", { ...terms, vendors, on_invalid: "refuse" });
    const place = path === "vendor" ? "vendors[1]" : `vendors[1].${path}`;
    expect(refused).toMatchObject({ status: 400, body: { error: "invalid_request", details: [{ path: place }] } });
    expect(file.jobs.calls).toEqual([]);
  });

  test.each([
    ["its own number", { ...one, external_id: "0000123456", extra: 1 }, "0000123456"],
    [
      "no TIN beside another problem",
      { identifiers: { tin: "123456780", uei: "short" }, external_id: "123456780" },
      "",
    ],
    ["no TIN of a list", { identifiers: [{ type: "ein", value: "12-3456780" }], external_id: "123456780" }, ""],
    ["no TIN of an unknown field", { ...one, tin: 123456780, external_id: "V 12-3456780" }, ""],
    ["no TIN in a name", { legal_name: "Acme 123-45-6780", external_id: "123456780" }, ""],
  ])("an invalid row shows %s", async (_what, vendor, shown) => {
    const taken = takeJobs();
    expect((await file.post("/v1/jobs", { ...terms, vendors: [vendor] })).status).toBe(202);
    expect(taken.rows()[0]).toMatchObject({ externalId: shown });
    expect(taken.rows()[0].problems).not.toEqual([]);
  });

  test.each([
    ["no vendors", { ...terms }, "vendors"],
    ["an empty list", { ...terms, vendors: [] }, "vendors"],
    ["too many vendors", { ...terms, vendors: Array.from({ length: 10_001 }, () => 1) }, "vendors"],
    ["vendors that are no list", { ...terms, vendors: { a: 1 } }, "vendors"],
    ["an unknown field", { ...terms, vendors: [one], extra: 1 }, "extra"],
    [
      "a private URL",
      { ...terms, vendors: [one], monitor: { webhook_url: "https://127.0.0.1/" } },
      "monitor.webhook_url",
    ],
    ["broken JSON", '{"checks":["sam_registration"],"mode":"cached","vendors":[{},{"a":}]}', "vendors[1]"],
    ["an entry that is nested too deep", { ...terms, vendors: [{}, nested(15)] }, "vendors[1]"],
    ["a list given twice", `{${terms_}"vendors":[{}],"vendors":[{}]}`, "vendors"],
    ["JSON that does not end", '{"checks":["sam_registration"],"vendors":[', "body"],
  ])("%s is refused before anything begins", async (_what, body, path) => {
    takeJobs();
    const refused = await file.post("/v1/jobs", body);
    expect(refused).toMatchObject({ status: 400, body: { error: "invalid_request" } });
    expect(refused.body.details.map((each: { path: string }) => each.path)).toContain(path);
    expect(file.jobs.calls).toEqual([]);
  });

  test("a refused job lists the problems of all vendors, as many as there can be vendors", async () => {
    takeJobs();
    const refuse = (vendors: unknown[]) => file.post("/v1/jobs", { ...terms, vendors, on_invalid: "refuse" });
    const { body } = await refuse(Array.from({ length: 10_000 }, () => ({ legal_name: "Acme", extra: 1 })));
    expect(body.message).toBe("The request has 10000 problems. They are listed in details.");
    expect(body.details.at(-1)).toEqual({ path: "vendors[9999].extra", message: "is an unknown field" });
    const more = (await refuse(Array.from({ length: 6_000 }, () => ({ legal_name: "Acme", more: 1, extra: 1 })))).body;
    expect(more.message).toBe("The request has 12000 problems. The first 10000 are listed in details.");
    expect(more.details).toHaveLength(10_000);
  });

  test("a body that is invalid is refused before a key without the scope", async () => {
    takeJobs();
    const { value: key } = file.account.createKey({ scopes: ["verifications:read"] });
    const send = async (vendors: string) => {
      const body = `{${terms_}"on_invalid":"refuse","vendors":[${vendors}]}`;
      return (await file.send("POST", "/v1/jobs", { key, body })).status;
    };
    expect(await send('{"a":}')).toBe(400);
    expect(await send('{"a":1}')).toBe(400);
    expect(await send(JSON.stringify(one))).toBe(403);
  });

  test("a vendor has at most 21 problems, and many with as many are one job", async () => {
    const taken = takeJobs();
    const wide = Object.fromEntries(Array.from({ length: 310 }, (_, index) => [`${"k".repeat(24)}${index}`, 1]));
    const vendors = Array.from({ length: 480 }, () => ({ ...wide, ...one }));
    expect((await file.post("/v1/jobs", { ...terms, vendors })).status).toBe(202);
    const { problems } = taken.rows().at(-1);
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toMatchObject({ path: "vendor", message: "has 290 more problems" });
  });

  test("understands a list of vendors whose key is written with an escape", async () => {
    const taken = takeJobs();
    const body = `{${terms_}"\\u0076endors":[${JSON.stringify(one)}]}`;
    expect((await file.post("/v1/jobs", body)).status).toBe(202);
    expect(taken.rows()).toMatchObject([{ identifiers: { uei: "ABCDEFGHJK12" } }]);
  });

  test("takes 10,000 vendors in a body of megabytes, and none that is larger than 5 MB", async () => {
    const taken = takeJobs();
    const vendors = Array.from({ length: 10_000 }, (_, index) => ({
      external_id: `V-${index}`,
      identifiers: { uei: `V${String(index).padStart(11, "0")}` },
      legal_name: `Company ${index} ${"x".repeat(200)}`,
    }));
    expect((await file.post("/v1/jobs", { ...terms, vendors })).status).toBe(202);
    expect(taken.rows()).toHaveLength(10_000);
    const larger = await file.post("/v1/jobs", { ...terms, vendors: [{ legal_name: "x".repeat(5_000_000) }] });
    expect(larger).toMatchObject({ status: 413, body: { error: "payload_too_large" } });
  });

  test("with monitors needs the scope for monitors too", async () => {
    takeJobs();
    const key = file.account.createKey({ scopes: ["verifications:write"] }).value;
    const send = (monitor: object | undefined) =>
      file.send("POST", "/v1/jobs", { key, body: { ...terms, vendors: [one], monitor } });
    expect((await send(undefined)).status).toBe(202);
    expect(await send({})).toMatchObject({ status: 403, body: { error: "forbidden" } });
  });
});

describe("results", () => {
  const id = newId("job");
  const entityId = newId("ent");
  const verification = {
    id: newId("ver"),
    entityId,
    overallResult: CheckStatus.FAIL,
    results: [
      {
        checkType: CheckType.SAM_REGISTRATION,
        status: CheckStatus.FAIL,
        origin: "sandbox_primary",
        evidenceId: newId("evd"),
        reason: "expired",
        details: { registrationStatus: "expired" },
      },
    ],
    createdAt: timestampFromDate(new Date()),
  };
  const results = [
    { row: 1, externalId: "=1+1", outcome: RowOutcome.FAIL, decision: Decision.HOLD, entityId, verification },
    {
      row: 3,
      outcome: RowOutcome.AMBIGUOUS,
      decision: Decision.REVIEW,
      candidates: [{ id: entityId, legalName: "A", confidence: 0.7 }],
    },
  ];

  test("come in pages, with the next one after the last row", async () => {
    const asked: object[] = [];
    file.jobs.on("listJobResults", (request) => {
      asked.push(request);
      return { results, nextRow: request.afterRow === 0 ? 3 : 0 };
    });
    const page = await file.get(`/v1/jobs/${id}/results?outcome=fail&limit=2`);
    expect(page).toMatchObject({
      status: 200,
      body: {
        results: [
          { row: 1, outcome: "fail", decision: "hold", verification: { overall_result: "fail" } },
          { row: 3, outcome: "ambiguous", candidates: [{ id: entityId }] },
        ],
      },
    });
    const next = await file.get(`/v1/jobs/${id}/results?outcome=fail&limit=2&cursor=${page.body.next_cursor}`);
    expect(next.body.next_cursor).toBeNull();
    expect(asked).toMatchObject([
      { outcome: RowOutcome.FAIL, afterRow: 0, limit: 2 },
      { outcome: RowOutcome.FAIL, afterRow: 3 },
    ]);
    expect((await file.get(`/v1/jobs/${id}/results?cursor=${page.body.next_cursor}`)).status).toBe(400);
  });

  const csvRows = (text: string) => text.split("\r\n").slice(1, -1);
  const jsonRows = (text: string) => text.split("\n").slice(0, -1);
  test.each([
    ["text/csv", "text/csv; charset=utf-8", csvRows],
    ["text/csv; charset=utf-8; header=present", "text/csv; charset=utf-8", csvRows],
    ["application/json;q=0.5, text/csv;charset=utf-8;q=0.9", "text/csv; charset=utf-8", csvRows],
    ["application/x-ndjson", "application/x-ndjson", jsonRows],
    ["application/x-ndjson; charset=utf-8", "application/x-ndjson", jsonRows],
  ])("come whole where %s is accepted, with the state of the job", async (accept, type, linesOf) => {
    file.jobs.on("getJob", () => ({ job: { ...jobOf(id), status: JobStatus.RUNNING } }));
    file.jobs.on("listJobResults", ({ afterRow }) => ({ results, nextRow: afterRow < 6 ? afterRow + 3 : 0 }));
    const response = await fetch(`${file.baseUrl}/v1/jobs/${id}/results`, {
      headers: { Authorization: `Bearer ${file.key}`, Accept: accept },
    });
    expect(response.headers.get("content-type")).toBe(type);
    expect(response.headers.get("x-job-status")).toBe("running");
    const lines = linesOf(await response.text());
    expect(lines).toHaveLength(6);
    if (linesOf === csvRows) expect(lines[0]).toContain('"1","\'=1+1","fail","hold"');
    else expect(JSON.parse(lines[0]!)).toMatchObject({ row: 1, external_id: "=1+1" });
  });

  test.each(["text/csv; q=0.5, application/json", "text/csv; charset=utf-8; q=0.5, application/json"])(
    "come in pages where %s prefers JSON",
    async (accept) => {
      file.jobs.on("listJobResults", () => ({ results, nextRow: 0 }));
      const headers = { Accept: accept };
      const { status, body } = await file.send("GET", `/v1/jobs/${id}/results`, { key: file.key, headers });
      expect([status, body.next_cursor]).toEqual([200, null]);
    },
  );

  test("of a job that this key can't see are 404, also as CSV", async () => {
    file.jobs.on("getJob", () => Promise.reject(new ServiceError("job_not_found")));
    const response = await fetch(`${file.baseUrl}/v1/jobs/${id}/results`, {
      headers: { Authorization: `Bearer ${file.key}`, Accept: "text/csv" },
    });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: "job_not_found" });
  });
});

test("the receipt of a job is a text", async () => {
  const id = newId("job");
  file.jobs.on("getJobReceipt", () => ({ receipt: "a.b.c" }));
  const response = await fetch(`${file.baseUrl}/v1/jobs/${id}/receipt`, {
    headers: { Authorization: `Bearer ${file.key}` },
  });
  expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
    200,
    "application/jwt",
    "a.b.c",
  ]);
  expect(file.jobs.calls.at(-1)!.request).toMatchObject({ jobId: id, issuer: "https://api.example.test" });
});
