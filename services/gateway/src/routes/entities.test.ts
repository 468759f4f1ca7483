import { describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { startTestGateway } from "../testing/gateway.ts";
import { bodies, entity, entityId, renderedEntity } from "../testing/samples.ts";

const gateway = await startTestGateway();

describe("POST /v1/entities/lookup", () => {
  test("passes criteria on in normalized form, also malformed values, and returns the match", async () => {
    gateway.entity.on("lookUp", () => ({ entity, confidence: 1 }));
    const { status, body } = await gateway.post("/v1/entities/lookup", {
      identifiers: { uei: " abc-def ghjkl1 ", tin: "21-3456789", cage: "toolong", duns: "x" },
      legal_name: "  Acme  ",
      address: "1 Main St, Springfield",
    });
    expect([status, body]).toEqual([200, renderedEntity]);
    expect(gateway.entity.calls.at(-1)!.request).toMatchObject({
      identifiers: { uei: "ABCDEFGHJKL1", tin: "213456789", cage: "TOOLONG", duns: "X" },
      legalName: "Acme",
      address: "1 Main St, Springfield",
      fuzzy: false,
      explain: false,
    });
  });

  test("is canceled when its client hangs up", async () => {
    const [asked, canceled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    gateway.entity.on("lookUp", async (_request, { signal }) => {
      signal.addEventListener("abort", () => canceled.resolve());
      asked.resolve();
      await canceled.promise;
      return {};
    });
    const hangUp = new AbortController();
    const call = fetch(`${gateway.baseUrl}/v1/entities/lookup`, {
      method: "POST",
      headers: { Authorization: `Bearer ${gateway.key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ legal_name: "Acme", mode: "fuzzy" }),
      signal: hangUp.signal,
    });
    await asked.promise;
    hangUp.abort();
    await expect(call).rejects.toThrow();
    await canceled.promise;
  });

  test("returns the candidates of a fuzzy look-up, with an explanation if requested", async () => {
    const explanation = [{ criterion: "name", outcome: "agrees", weight: 0.5, detail: "same words" }];
    const candidate = { id: entityId, legalName: "Acme", confidence: 0.7 };
    gateway.entity.on("lookUp", () => ({ candidates: [{ ...candidate, explanation }, candidate] }));
    const { status, body } = await gateway.post("/v1/entities/lookup?explain=true", {
      legal_name: "Acme",
      mode: "fuzzy",
    });
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

  test("returns the confidence and the explanation of a fuzzy match, with the parts of a criterion", async () => {
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
    const { body } = await gateway.post("/v1/entities/lookup?explain=true", { legal_name: "Acme", mode: "fuzzy" });
    expect(body).toEqual({ ...renderedEntity, confidence: 0.97, explanation });
  });

  test("masks text in an explanation that looks like a TIN", async () => {
    const explanation = [{ criterion: "legal_name", outcome: "agrees", weight: 0.5, detail: "only asked: 213456789" }];
    gateway.entity.on("lookUp", () => ({ entity, confidence: 0.97, explanation }));
    const { body } = await gateway.post("/v1/entities/lookup?explain=true", { legal_name: "Acme", mode: "fuzzy" });
    expect(body.explanation[0].detail).toBe("only asked: ****6789");
  });

  test("ignores an Idempotency-Key, even an invalid one", async () => {
    const headers = { "Idempotency-Key": "x".repeat(300) };
    expect((await gateway.post("/v1/entities/lookup", bodies["/v1/entities/lookup"], headers)).status).toBe(200);
  });

  test("passes on an ambiguity with its candidates, and masks text in the message that looks like a TIN", async () => {
    gateway.entity.on("lookUp", () => {
      throw new ServiceError("ambiguous_match", {
        message: "21-3456789 names several",
        candidates: [{ id: entityId, legalName: "Acme", confidence: 1 }],
      });
    });
    const { status, body } = await gateway.post("/v1/entities/lookup", bodies["/v1/entities/lookup"]);
    expect(status).toBe(409);
    expect(body).toEqual({
      error: "ambiguous_match",
      message: "****6789 names several",
      request_id: expect.any(String),
      doc_url: expect.stringMatching(/#error-\w+$/),
      candidates: [{ id: entityId, legal_name: "Acme", confidence: 1 }],
    });
  });
});

describe("POST /v1/entities", () => {
  const address = { line1: "1 Main St", city: "Springfield", state: "IL", zip: "62701-1234", country: "USA" };

  test("creates an entity and returns its location", async () => {
    gateway.entity.on("createEntity", () => ({ entity }));
    const { status, headers, body } = await gateway.post("/v1/entities", {
      legal_name: "Acme Tools LLC",
      identifiers: { cage: "1abc2" },
      address,
    });
    expect([status, body]).toEqual([201, renderedEntity]);
    expect(headers.get("location")).toBe(`/v1/entities/${entityId}`);
    expect(headers.get("idempotency-replayed")).toBeNull();
    const { request } = gateway.entity.calls.at(-1)!;
    expect(request).toMatchObject({
      caller: { createdEntities: 250 },
      legalName: "Acme Tools LLC",
      identifiers: { cage: "1ABC2" },
      address: { type: "physical", ...address, line2: "" },
    });
    expect(request.idempotency).toBeUndefined();
  });

  test("passes the client's own number on, and returns it", async () => {
    gateway.entity.on("createEntity", () => ({ entity: { ...entity, externalId: "V-1" } }));
    const { body } = await gateway.post("/v1/entities", { ...bodies["/v1/entities"], external_id: " V-1 " });
    expect(body).toEqual({ ...renderedEntity, external_id: "V-1" });
    expect(gateway.entity.calls.at(-1)!.request).toMatchObject({ externalId: "V-1" });
  });
});

describe("PUT /v1/entities/:id/external_id", () => {
  const put = (body: unknown) =>
    gateway.send("PUT", `/v1/entities/${entityId}/external_id`, { key: gateway.key, body });

  test.each([
    ["V-1", "V-1"],
    [" 213456789 ", "213456789"],
    ["号码 7", "号码 7"],
    ["x".repeat(255), "x".repeat(255)],
    [null, ""],
  ])("passes %j on, and returns the entity", async (external_id, externalId) => {
    gateway.entity.on("setExternalId", () => ({ entity: { ...entity, externalId } }));
    const { status, body } = await put({ external_id });
    expect([status, body]).toEqual([200, { ...renderedEntity, ...(externalId && { external_id: externalId }) }]);
    expect(gateway.entity.calls.at(-1)!.request).toMatchObject({ entityId, externalId });
  });

  test.each([
    ["an empty text", { external_id: "" }],
    ["spaces", { external_id: "  " }],
    ["256 characters", { external_id: "x".repeat(256) }],
    ["a control character", { external_id: "V\u0007" }],
    ["a line break", { external_id: "V\n1" }],
    ["a number", { external_id: 1 }],
    ["nothing", {}],
  ])("refuses %s", async (_name, body) => {
    const answer = await put(body);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, "external_id"]);
  });
});

test("GET /v1/entities/:id and its snapshots, which are exactly the hashed fields", async () => {
  gateway.entity.on("getEntity", () => ({ entity }));
  expect((await gateway.get(`/v1/entities/${entityId}`)).body).toEqual(renderedEntity);

  const organizationId = newId("org");
  const snapshot = {
    id: newId("snp"),
    entityId,
    organizationId,
    version: 2,
    entity: { id: entityId, nested: { empty: "", list: [1, 0.5], yes: true } },
    actor: "key_1",
    requestId: "req_1",
    createdAt: "2026-11-21T09:30:00.123Z",
    hash: "aa".repeat(32),
    previousHash: "bb".repeat(32),
  };
  const registry = { ...snapshot, version: 1, organizationId: "", requestId: "", previousHash: "" };
  gateway.entity.on("listSnapshots", () => ({ snapshots: [snapshot, registry] }));
  const { body } = await gateway.get(`/v1/entities/${entityId}/snapshots`);
  const rendered = {
    id: snapshot.id,
    entity_id: entityId,
    entity: snapshot.entity,
    actor: "key_1",
    created_at: "2026-11-21T09:30:00.123Z",
    hash: "aa".repeat(32),
  };
  expect(body).toEqual({
    snapshots: [
      { ...rendered, version: 2, organization_id: organizationId, request_id: "req_1", previous_hash: "bb".repeat(32) },
      { ...rendered, version: 1 },
    ],
    next_cursor: null,
  });
});
