import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { startTestGateway, type TestGateway, until } from "./testing/gateway.ts";
import {
  bodies,
  entity,
  entityId,
  event,
  evidenceId,
  monitor,
  monitorId,
  renderedEntity,
  renderedEvent,
  renderedMonitor,
  renderedVerification,
  verification,
  verificationId,
} from "./testing/samples.ts";

let gateway: TestGateway;
let key: string;
beforeAll(async () => {
  gateway = await startTestGateway(process.env.REDIS_URL);
  key = gateway.account.createKey().value;
});
afterAll(() => gateway.close());

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  gateway.send("POST", path, { key, body, headers });
const get = (path: string) => gateway.send("GET", path, { key });

describe("POST /v1/entities/lookup", () => {
  test("passes criteria on normalized, ill-formed values too, and answers the one match", async () => {
    gateway.entity.on("lookUp", () => ({ entity, confidence: 1 }));
    const { status, body } = await post("/v1/entities/lookup", {
      identifiers: { uei: " abc-def ghjkl1 ", tin: "12-3456789", cage: "toolong", duns: "x" },
      legal_name: "  Acme  ",
      address: "1 Main St, Springfield",
    });
    expect([status, body]).toEqual([200, renderedEntity]);
    expect(gateway.entity.calls.at(-1)!.request).toMatchObject({
      identifiers: { uei: "ABCDEFGHJKL1", tin: "123456789", cage: "TOOLONG", duns: "X" },
      legalName: "Acme",
      address: "1 Main St, Springfield",
      fuzzy: false,
      explain: false,
    });
  });

  test("answers candidates of a fuzzy look-up, with reasons where asked for", async () => {
    const explanation = [{ criterion: "name", outcome: "agrees", weight: 0.5, detail: "same words" }];
    const candidate = { id: entityId, legalName: "Acme", confidence: 0.7 };
    gateway.entity.on("lookUp", () => ({ candidates: [{ ...candidate, explanation }, candidate] }));
    const { status, body } = await post("/v1/entities/lookup?explain=true", { legal_name: "Acme", mode: "fuzzy" });
    expect([status, body]).toEqual([
      200,
      {
        candidates: [
          { id: entityId, legal_name: "Acme", confidence: 0.7, explanation },
          { id: entityId, legal_name: "Acme", confidence: 0.7 },
        ],
      },
    ]);
    expect(gateway.entity.calls.at(-1)!.request).toMatchObject({ fuzzy: true, explain: true });
  });

  test("tells how sure a fuzzy match is, and why, also by parts", async () => {
    const parts = [{ part: "zip", outcome: "contradicts", weight: -1 }];
    const address = {
      criterion: "address",
      outcome: "contradicts",
      weight: -0.03,
      detail: "different: ZIP code",
      parts,
    };
    const name = { criterion: "legal_name", outcome: "agrees", weight: 1, detail: "same words" };
    const explanation = [name, address];
    gateway.entity.on("lookUp", () => ({ entity, confidence: 0.97, explanation }));
    const { body } = await post("/v1/entities/lookup?explain=true", { legal_name: "Acme", mode: "fuzzy" });
    expect(body).toEqual({ ...renderedEntity, confidence: 0.97, explanation });
  });

  test("masks what looks like a TIN in the words of an explanation", async () => {
    const explanation = [{ criterion: "legal_name", outcome: "agrees", weight: 0.5, detail: "only asked: 123456789" }];
    gateway.entity.on("lookUp", () => ({ entity, confidence: 0.97, explanation }));
    const { body } = await post("/v1/entities/lookup?explain=true", { legal_name: "Acme", mode: "fuzzy" });
    expect(body.explanation[0].detail).toBe("only asked: ****6789");
  });

  test("ignores an Idempotency-Key, whatever it is", async () => {
    const headers = { "Idempotency-Key": "x".repeat(300) };
    expect((await post("/v1/entities/lookup", bodies["/v1/entities/lookup"], headers)).status).toBe(200);
  });

  test("passes an ambiguity on with its candidates, and masks what looks like a TIN in the message", async () => {
    gateway.entity.on("lookUp", () => {
      throw new ServiceError("ambiguous_match", {
        message: "12-3456789 names several",
        candidates: [{ id: entityId, legalName: "Acme", confidence: 1 }],
      });
    });
    const { status, body } = await post("/v1/entities/lookup", bodies["/v1/entities/lookup"]);
    expect(status).toBe(409);
    expect(body).toEqual({
      error: "ambiguous_match",
      message: "****6789 names several",
      request_id: expect.any(String),
      candidates: [{ id: entityId, legal_name: "Acme", confidence: 1 }],
    });
  });
});

describe("POST /v1/entities", () => {
  const address = { line1: "1 Main St", city: "Springfield", state: "IL", zip: "62701-1234", country: "USA" };

  test("creates, and says where", async () => {
    gateway.entity.on("createEntity", () => ({ entity }));
    const { status, headers, body } = await post("/v1/entities", {
      legal_name: "Acme Tools LLC",
      identifiers: { cage: "1abc2" },
      address,
    });
    expect([status, body]).toEqual([201, renderedEntity]);
    expect(headers.get("location")).toBe(`/v1/entities/${entityId}`);
    expect(headers.get("idempotency-replayed")).toBeNull();
    const { request } = gateway.entity.calls.at(-1)!;
    expect(request).toMatchObject({
      legalName: "Acme Tools LLC",
      identifiers: { cage: "1ABC2" },
      address: { type: "physical", ...address, line2: "" },
    });
    expect(request.idempotency).toBeUndefined();
  });

  test("names the entity that exists", async () => {
    gateway.entity.on("createEntity", () => {
      throw new ServiceError("entity_exists", { entityId });
    });
    const { status, body } = await post("/v1/entities", bodies["/v1/entities"]);
    expect(status).toBe(409);
    expect(body).toMatchObject({ error: "entity_exists", entity_id: entityId });
  });
});

describe("an Idempotency-Key", () => {
  const sent = () => gateway.entity.calls.at(-1)!.request.idempotency;
  const create = async (idempotencyKey: string, body: unknown) => {
    gateway.entity.on("createEntity", () => ({ entity, replayed: true }));
    return post("/v1/entities", body, { "Idempotency-Key": idempotencyKey });
  };

  test("goes on as keyed hashes: nothing of it or of the body in clear", async () => {
    const { status, headers } = await create("order 123456789", { legal_name: "A", identifiers: { tin: "987654321" } });
    expect(status).toBe(201);
    expect(headers.get("idempotency-replayed")).toBe("true");
    expect(headers.get("location")).toBe(`/v1/entities/${entityId}`);
    expect(sent()).toMatchObject({ path: "/v1/entities", key: expect.stringMatching(/^[\w-]{43}$/) });
    expect(sent().apiKeyId).toMatch(/^key_/);
    expect(sent().bodyHash).toHaveLength(32);
  });

  test("means the same body whatever its spacing and order of keys, and another where a value differs", async () => {
    await create("k", '{"legal_name":"A","identifiers":{"uei":"ABCDEFGHJKL1","cage":"1ABC2"}}');
    const first = sent();
    await create("k", '{ "identifiers": {"cage":"1ABC2", "uei":"ABCDEFGHJKL1"}, "legal_name": "A" }');
    expect(sent()).toEqual(first);
    await create("k", '{"legal_name":"B","identifiers":{"uei":"ABCDEFGHJKL1","cage":"1ABC2"}}');
    expect(sent().key).toEqual(first.key);
    expect(sent().bodyHash).not.toEqual(first.bodyHash);
    await create("K", '{"legal_name":"B"}');
    expect(sent().key).not.toEqual(first.key);
  });

  test.each(["", "x".repeat(256), "tab\tinside", "é"])("%j is refused", async (value) => {
    const { status, body } = await create(value, bodies["/v1/entities"]);
    expect(status).toBe(400);
    expect(body.details).toEqual([{ path: "Idempotency-Key", message: expect.any(String) }]);
  });

  test.each([
    ["idempotency_mismatch", 422],
    ["idempotency_conflict", 409],
  ] as const)("%s is %d", async (code, expected) => {
    gateway.entity.on("createEntity", () => {
      throw new ServiceError(code);
    });
    const { status, body } = await post("/v1/entities", bodies["/v1/entities"], { "Idempotency-Key": "k" });
    expect([status, body.error]).toEqual([expected, code]);
  });
});

test("GET /v1/entities/:id and its snapshots, exactly as hashed", async () => {
  gateway.entity.on("getEntity", () => ({ entity }));
  expect((await get(`/v1/entities/${entityId}`)).body).toEqual(renderedEntity);

  const snapshot = {
    id: newId("snp"),
    entityId,
    organizationId: "org_1",
    version: 2,
    entity: { id: entityId, nested: { empty: "", list: [1, 0.5], yes: true } },
    actor: "key_1",
    requestId: "req_1",
    createdAt: "2026-11-21T09:30:00.123Z",
    hash: "aa",
    previousHash: "bb",
  };
  const registry = { ...snapshot, version: 1, organizationId: "", requestId: "", previousHash: "" };
  gateway.entity.on("listSnapshots", () => ({ snapshots: [snapshot, registry] }));
  const { body } = await get(`/v1/entities/${entityId}/snapshots`);
  const rendered = {
    id: snapshot.id,
    entity_id: entityId,
    entity: snapshot.entity,
    actor: "key_1",
    created_at: "2026-11-21T09:30:00.123Z",
    hash: "aa",
  };
  expect(body).toEqual({
    snapshots: [
      { ...rendered, version: 2, organization_id: "org_1", request_id: "req_1", previous_hash: "bb" },
      { ...rendered, version: 1 },
    ],
    next_cursor: null,
  });
});

describe("verifications", () => {
  test("POST /v1/verify by entity", async () => {
    gateway.verification.on("verify", () => ({ verification }));
    const { status, body } = await post("/v1/verify", {
      entity_id: entityId,
      checks: ["tin_match", "sam_registration", "tin_match"],
      mode: "cached",
    });
    expect([status, body]).toEqual([200, renderedVerification]);
    expect(gateway.verification.calls.at(-1)!.request).toMatchObject({
      target: { case: "entityId", value: entityId },
      checks: [CheckType.TIN_MATCH, CheckType.SAM_REGISTRATION],
      mode: Mode.CACHED,
    });
  });

  test("POST /v1/verify by identifiers, replayed", async () => {
    gateway.verification.on("verify", () => ({ verification, replayed: true }));
    const { status, headers } = await post(
      "/v1/verify",
      { identifiers: { tin: "12-3456789" }, legal_name: "Acme", checks: ["tin_match"], mode: "realtime" },
      { "Idempotency-Key": "k" },
    );
    expect(status).toBe(200);
    expect(headers.get("idempotency-replayed")).toBe("true");
    expect(gateway.verification.calls.at(-1)!.request).toMatchObject({
      target: { case: "vendor", value: { identifiers: { tin: "123456789" }, legalName: "Acme" } },
      mode: Mode.REALTIME,
    });
  });

  test("POST /v1/verifications", async () => {
    gateway.verification.on("verify", () => ({ verification }));
    const { status, body } = await post("/v1/verifications", bodies["/v1/verifications"]);
    expect([status, body]).toEqual([200, renderedVerification]);
  });

  test.each(["/v1/verify", "/v1/verifications"])("%s knows no entity by what is no id", async (path) => {
    const calls = gateway.verification.calls.length;
    const { status, body } = await post(path, { entity_id: "acme", checks: ["tin_match"], mode: "cached" });
    expect([status, body.error]).toEqual([404, "entity_not_found"]);
    expect(gateway.verification.calls).toHaveLength(calls);
  });

  test("GET one, and evidence", async () => {
    gateway.verification.on("getVerification", () => ({ verification }));
    expect((await get(`/v1/verifications/${verificationId}`)).body).toEqual(renderedVerification);
    const at = timestampFromDate(new Date("2026-11-21T09:30:00.000Z"));
    gateway.verification.on("getEvidence", () => ({
      evidence: {
        id: evidenceId,
        verificationId,
        checkType: CheckType.TIN_MATCH,
        origin: "none",
        sha256: "ab",
        attempts: [
          { provider: "taxbandits", outcome: "throw", reason: "timeout", startedAt: at, durationMs: 20_000n },
          { provider: "compliancely", outcome: "pass", startedAt: at, durationMs: 3n },
        ],
        createdAt: at,
      },
    }));
    const time = "2026-11-21T09:30:00.000Z";
    expect((await get(`/v1/evidence/${evidenceId}`)).body).toEqual({
      id: evidenceId,
      verification_id: verificationId,
      check_type: "tin_match",
      origin: "none",
      content: "",
      content_type: "",
      sha256: "ab",
      attempts: [
        { provider: "taxbandits", outcome: "throw", reason: "timeout", started_at: time, duration_ms: 20_000 },
        { provider: "compliancely", outcome: "pass", started_at: time, duration_ms: 3 },
      ],
      created_at: time,
    });
  });

  test("GET /v1/verifications filters by entity; what can't be one gives an empty list without a call", async () => {
    gateway.verification.on("listVerifications", () => ({ verifications: [verification] }));
    const { body } = await get(`/v1/verifications?entity_id=${entityId}`);
    expect(body).toEqual({ verifications: [renderedVerification], next_cursor: null });
    expect(gateway.verification.calls.at(-1)!.request).toMatchObject({ entityId, page: { limit: 25 } });
    const calls = gateway.verification.calls.length;
    const empty = await get("/v1/verifications?entity_id=acme");
    expect([empty.status, empty.body]).toEqual([200, { verifications: [], next_cursor: null }]);
    expect(gateway.verification.calls).toHaveLength(calls);
  });

  test("GET /v1/providers are those of the key's environment", async () => {
    const at = timestampFromDate(new Date("2026-11-21T09:30:00.000Z"));
    gateway.verification.on("listProviders", () => ({
      providers: [
        {
          name: "sam_gov_api",
          checks: [CheckType.SAM_REGISTRATION],
          state: "available",
          quotaRemaining: 0n,
          lastSuccessAt: at,
        },
        { name: "taxbandits", checks: [CheckType.TIN_MATCH], state: "unavailable" },
      ],
    }));
    const { value } = gateway.account.createKey({ environment: "sandbox" });
    const { body } = await gateway.send("GET", "/v1/providers", { key: value });
    expect(body).toEqual({
      providers: [
        {
          name: "sam_gov_api",
          checks: ["sam_registration"],
          state: "available",
          quota_remaining: 0,
          last_success_at: "2026-11-21T09:30:00.000Z",
        },
        { name: "taxbandits", checks: ["tin_match"], state: "unavailable" },
      ],
    });
    expect(gateway.verification.calls.at(-1)!.request).toMatchObject({ environment: Environment.SANDBOX });
  });
});

describe("monitors", () => {
  test("POST creates, daily where nothing is said, within the cap of the plan", async () => {
    gateway.monitor.on("createMonitor", () => ({ monitor }));
    const { status, headers, body } = await post("/v1/monitors", bodies["/v1/monitors"]);
    expect([status, body]).toEqual([201, renderedMonitor]);
    expect(headers.get("location")).toBe(`/v1/monitors/${monitorId}`);
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({
      entityId,
      checks: [CheckType.SAM_REGISTRATION],
      webhookUrl: "https://example.com/hooks",
      frequency: Frequency.DAILY,
      activeLimit: 25,
    });
  });

  test.each([
    ["a cap", new ServiceError("limit_exceeded"), 403, "limit_exceeded"],
    ["an unknown entity", new ServiceError("entity_not_found"), 404, "entity_not_found"],
    [
      "a refused URL",
      new ServiceError("invalid_request", { details: [{ path: "webhook_url", message: "must be public" }] }),
      400,
      "invalid_request",
    ],
  ])("POST passes %s on", async (_name, thrown, expected, code) => {
    gateway.monitor.on("createMonitor", () => Promise.reject(thrown));
    const { status, body } = await post("/v1/monitors", bodies["/v1/monitors"]);
    expect([status, body.error]).toEqual([expected, code]);
  });

  test("GET tells of the last run and the next", async () => {
    const at = timestampFromDate(new Date("2026-11-21T09:30:00.000Z"));
    const lastRun = { at, outcome: CheckStatus.ERROR, verificationId };
    gateway.monitor.on("getMonitor", () => ({ monitor: { ...monitor, lastRun, nextRunAt: at, consecutiveErrors: 2 } }));
    expect((await get(`/v1/monitors/${monitorId}`)).body).toEqual({
      ...renderedMonitor,
      last_run: { at: "2026-11-21T09:30:00.000Z", outcome: "error", verification_id: verificationId },
      next_run_at: "2026-11-21T09:30:00.000Z",
      consecutive_errors: 2,
    });
  });

  test("PATCH changes what is given alone", async () => {
    gateway.monitor.on("updateMonitor", () => ({ monitor }));
    const send = (body: unknown) => gateway.send("PATCH", `/v1/monitors/${monitorId}`, { key, body });
    expect((await send({ frequency: "hourly" })).body).toEqual(renderedMonitor);
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({ webhookUrl: "", frequency: Frequency.HOURLY });
    await send({ webhook_url: "https://example.org/" });
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({
      monitorId,
      webhookUrl: "https://example.org/",
      frequency: Frequency.UNSPECIFIED,
    });
    expect((await send({})).status).toBe(400);
  });

  test("DELETE answers with the canceled monitor", async () => {
    gateway.monitor.on("cancelMonitor", () => ({ monitor: { ...monitor, status: "canceled" } }));
    const { status, body } = await gateway.send("DELETE", `/v1/monitors/${monitorId}`, { key });
    expect([status, body.status]).toEqual([200, "canceled"]);
  });

  test("events of one monitor and of all, an absent value as an empty text", async () => {
    gateway.monitor.on("listEvents", () => ({ events: [event] }));
    expect((await get(`/v1/monitors/${monitorId}/events`)).body).toEqual({
      events: [renderedEvent],
      next_cursor: null,
    });
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({ monitorId });
    expect((await get("/v1/events")).body).toEqual({ events: [renderedEvent], next_cursor: null });
    expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({ monitorId: "" });
  });
});

describe("lists", () => {
  const next = { createdAt: timestampFromDate(new Date("2026-11-21T09:30:00.000Z")), id: entityId };
  const cursorOf = async (path: string, options = { key }) => {
    gateway.entity.on("listEntities", () => ({ entities: [entity], next }));
    gateway.entity.on("listSnapshots", () => ({ snapshots: [], next }));
    gateway.verification.on("listVerifications", () => ({ verifications: [], next }));
    return (await gateway.send("GET", path, options)).body.next_cursor as string;
  };

  test("go on where the page before ended, with another limit too", async () => {
    const cursor = await cursorOf("/v1/entities?limit=1");
    expect(cursor).toMatch(/^[\w-]+$/);
    await get(`/v1/entities?limit=100&cursor=${cursor}`);
    expect(gateway.entity.calls.at(-1)!.request.page).toMatchObject({ limit: 100, after: next });
  });

  test.each(["0", "101", "1000", "-1", "1.5", "1e1", "+5", "05", "ten", "%20", ""])(
    "limit=%s is 400",
    async (limit) => {
      const { status, body } = await get(`/v1/entities?limit=${limit}`);
      expect(status).toBe(400);
      expect(body.details[0].path).toBe("limit");
    },
  );

  test("a cursor is good for its own list, filter, organization and environment alone", async () => {
    const cursor = await cursorOf("/v1/entities");
    const { tenant } = gateway.account.createKey().record;
    const others: [string, string][] = [
      ["/v1/verifications", key],
      [`/v1/entities/${entityId}/snapshots`, key],
      ["/v1/entities", gateway.account.createKey().value],
    ];
    for (const [path, other] of others) {
      const { status, body } = await gateway.send("GET", `${path}?cursor=${cursor}`, { key: other });
      expect([status, body.details[0].path]).toEqual([400, "cursor"]);
    }
    const { organizationId } = tenant!;
    const live = gateway.account.createKey({ organizationId }).value;
    const sandbox = gateway.account.createKey({ organizationId, environment: "sandbox" }).value;
    const liveCursor = await cursorOf("/v1/entities", { key: live });
    expect((await gateway.send("GET", `/v1/entities?cursor=${liveCursor}`, { key: sandbox })).status).toBe(400);
    const sameOrganization = gateway.account.createKey({ organizationId }).value;
    expect((await gateway.send("GET", `/v1/entities?cursor=${liveCursor}`, { key: sameOrganization })).status).toBe(
      200,
    );

    const filtered = await cursorOf(`/v1/verifications?entity_id=${entityId}`);
    expect((await get(`/v1/verifications?cursor=${filtered}`)).status).toBe(400);
    expect((await get(`/v1/verifications?entity_id=${newId("ent")}&cursor=${filtered}`)).status).toBe(400);
    expect((await get(`/v1/verifications?entity_id=${entityId}&cursor=${filtered}`)).status).toBe(200);
    const snapshots = await cursorOf(`/v1/entities/${entityId}/snapshots`);
    expect((await get(`/v1/entities/${newId("ent")}/snapshots?cursor=${snapshots}`)).status).toBe(400);
  });

  test("a cursor that was touched is 400", async () => {
    const cursor = await cursorOf("/v1/entities");
    const broken = [
      "x",
      "e30",
      "%00",
      `${cursor}=`,
      `${cursor}AA`,
      cursor.slice(0, -4),
      cursor.replace(/^./, "_"),
      "null",
    ];
    for (const one of broken) {
      const { status, body } = await get(`/v1/entities?cursor=${one}`);
      expect([one, status]).toEqual([one, 400]);
      expect(body.details[0].path).toBe("cursor");
    }
  });

  test("a parameter given twice is 400", async () => {
    const { status, body } = await get("/v1/entities?limit=5&limit=5");
    expect([status, body.details]).toEqual([400, [{ path: "limit", message: "must be given once" }]]);
  });
});

describe("what every answer carries", () => {
  test("no store, no sniffing, no word on what serves it", async () => {
    const { headers } = await get("/v1/nothing");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("x-powered-by")).toBeNull();
    expect(headers.get("etag")).toBeNull();
  });

  test.each(["a", "0f8fad5b-d9cb-469f-a165-70867728950e", "x".repeat(128), "with spaces ~!"])(
    "the client's request id %s",
    async (id) => {
      const { headers, body } = await gateway.send("GET", "/v1/nothing", { headers: { "X-Request-Id": id } });
      expect(headers.get("x-request-id")).toBe(id);
      expect(body.request_id).toBe(id);
    },
  );

  test.each(["x".repeat(129), "tab\tinside", "é", "12-3456789", "order 123456789", ""])(
    "an own request id instead of %j",
    async (id) => {
      const { headers, body } = await gateway.send("GET", "/v1/nothing", { headers: { "X-Request-Id": id } });
      expect(headers.get("x-request-id")).toMatch(/^req_[0-9a-z]{26}$/);
      expect(body.request_id).toBe(headers.get("x-request-id"));
    },
  );
});

describe("a service that is out of reach", () => {
  test("is 503 with Retry-After, and health tells of it until it is back", async () => {
    const other = await startTestGateway(process.env.REDIS_URL);
    try {
      const { value } = other.account.createKey();
      const health = () => other.send("GET", "/v1/health");
      await until(async () => (await health()).status === 200);
      expect((await health()).body).toEqual({ status: "ok", version: "1.2.3" });
      await other.entity.close();
      const { status, headers, body } = await other.send("GET", `/v1/entities/${entityId}`, { key: value });
      expect([status, body.error]).toEqual([503, "service_unavailable"]);
      expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      await until(async () => (await health()).status === 503);
      expect((await health()).body).toEqual({ status: "unavailable", version: "1.2.3" });
    } finally {
      await other.close();
    }
  });
});
