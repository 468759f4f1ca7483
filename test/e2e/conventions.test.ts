import { connect } from "node:net";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { createApi } from "../support/api.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";

const { baseUrl } = sharedProduct();
let organization: TestOrganization;

beforeAll(async () => {
  organization = await createOrganization();
});

describe("every response", () => {
  test("carries the client's request id, or one of ours", async () => {
    const kept = await organization.live.get("/v1/entities", { headers: { "x-request-id": "my-request/1" } });
    expect(kept.headers.get("x-request-id")).toBe("my-request/1");
    for (const id of ["x".repeat(129), "ünïcode"]) {
      const own = await organization.live.get("/v1/entities", {
        headers: { "x-request-id": encodeURI(id) === id ? id : "" },
      });
      expect(own.headers.get("x-request-id")).toMatch(/^req_[0-9a-z]{26}$/);
    }
    const refused = await createApi(baseUrl).get("/v1/nowhere");
    expect(refused.body).toEqual({
      error: "not_found",
      message: expect.any(String),
      request_id: refused.headers.get("x-request-id"),
      doc_url: `${baseUrl}/docs#error-not_found`,
    });
  });

  test("is JSON in the standard error shape, even if the HTTP request is malformed", async () => {
    const { hostname, port } = new URL(baseUrl);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write("GET / HTTP/1.1\r\nbroken\r\n\r\n"));
      let text = "";
      socket.on("data", (chunk) => (text += chunk));
      socket.on("close", () => resolve(text));
      socket.on("error", reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))).toMatchObject({ error: "invalid_request" });
  });
});

describe("paths and methods", () => {
  test.each([
    ["GET", "/v1"],
    ["GET", "/v2/entities"],
    ["POST", "/v1/entities/lookup/more"],
    ["DELETE", "/v1/nothing"],
  ])("%s %s is 404, even without a key", async (method, path) => {
    const answer = await createApi(baseUrl).request(method, path);
    expect([answer.status, answer.body.error]).toEqual([404, "not_found"]);
  });

  test.each([
    ["DELETE", "/v1/entities", ["GET", "POST"]],
    ["PUT", "/v1/entities/lookup", ["POST"]],
    ["GET", "/v1/verify", ["POST"]],
    ["POST", "/v1/monitors/mon_1", ["GET", "PATCH", "DELETE"]],
    ["POST", "/v1/health", ["GET"]],
  ])("%s %s is 405 and lists the allowed methods", async (method, path, allowed) => {
    const answer = await createApi(baseUrl).request(method, path);
    expect([answer.status, answer.body.error]).toEqual([405, "method_not_allowed"]);
    const named = answer.headers.get("allow")!.split(/, */);
    expect(named).toEqual(expect.arrayContaining(allowed));
  });
});

describe("bodies are strict", () => {
  test.each([
    ["malformed JSON", "{", []],
    ["an empty body", "", []],
    ["an array", "[]", []],
    ["null", "null", []],
  ])("%s is 400", async (_name, rawBody) => {
    const answer = await organization.live.request("POST", "/v1/entities", { rawBody });
    expect([answer.status, answer.body.error]).toEqual([400, "invalid_request"]);
  });

  test("all problems are reported together, and no value is echoed", async () => {
    const answer = await organization.live.post("/v1/entities", {
      legal_name: "",
      identifiers: { uei: "TOO-SHORT", tin: 5 },
      nickname: "secret-value",
      address: { line1: "1 Main St" },
    });
    expect([answer.status, answer.body.error]).toEqual([400, "invalid_request"]);
    const paths = answer.body.details.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(
      expect.arrayContaining(["legal_name", "identifiers.uei", "identifiers.tin", "nickname", "address.city"]),
    );
    for (const { message } of answer.body.details) expect(message).toEqual(expect.any(String));
    expect(JSON.stringify(answer.body)).not.toMatch(/secret-value|TOO-SHORT/);
  });

  test.each([
    ["an unknown identifier type", { identifiers: { ein: "123456789" } }, "identifiers.ein"],
    ["no criterion", {}, ""],
    ["an empty object of identifiers", { identifiers: {} }, "identifiers"],
    ["a name that is too long", { legal_name: "x".repeat(301) }, "legal_name"],
    ["an address that is too long", { address: "x".repeat(501) }, "address"],
    ["an unknown mode", { legal_name: "Acme", mode: "magic" }, "mode"],
  ])("a look-up with %s is 400", async (_name, body, path) => {
    const answer = await organization.live.post("/v1/entities/lookup", body);
    expect(answer.status).toBe(400);
    if (path) expect(answer.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
  });

  test("a body over 100 kB is 413, and another media type is 415", async () => {
    const large = await organization.live.post("/v1/entities", { legal_name: "x".repeat(110_000) });
    expect([large.status, large.body.error]).toEqual([413, "payload_too_large"]);
    const text = await organization.live.request("POST", "/v1/entities", {
      rawBody: '{"legal_name":"Acme"}',
      headers: { "content-type": "text/plain" },
    });
    expect([text.status, text.body.error]).toEqual([415, "unsupported_media_type"]);
  });

  test("an unknown or repeated query parameter is 400", async () => {
    for (const query of ["?colour=red", "?limit=5&limit=6"]) {
      const answer = await organization.live.get(`/v1/entities${query}`);
      expect([answer.status, answer.body.error]).toEqual([400, "invalid_request"]);
    }
  });
});

describe("lists", () => {
  test("are paged newest first, each item once, by an opaque cursor", async () => {
    const own = await createOrganization();
    const created: string[] = [];
    for (let index = 0; index < 7; index++) {
      created.unshift((await own.sandbox.post("/v1/entities", { legal_name: `Paged ${index}` })).body.id);
    }
    const seen: string[] = [];
    let cursor: string | null = "";
    do {
      const page: { body: { entities: { id: string }[]; next_cursor: string | null } } = await own.sandbox.get(
        `/v1/entities?limit=3${cursor ? `&cursor=${cursor}` : ""}`,
      );
      expect(page.body.entities.length).toBeLessThanOrEqual(3);
      seen.push(...page.body.entities.map(({ id }) => id));
      cursor = page.body.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(created);
  });

  test.each(["0", "101", "-1", "1.5", "ten", ""])("limit=%j is 400", async (limit) => {
    expect((await organization.live.get(`/v1/verifications?limit=${limit}`)).status).toBe(400);
  });

  test("a cursor that is malformed or belongs to another list or filter is 400", async () => {
    const own = await createOrganization();
    for (const name of ["A", "B"]) await own.sandbox.post("/v1/entities", { legal_name: name });
    const { next_cursor: cursor } = (await own.sandbox.get("/v1/entities?limit=1")).body;
    expect(cursor).toEqual(expect.any(String));
    expect((await own.sandbox.get(`/v1/entities?cursor=${cursor}`)).status).toBe(200);
    for (const path of ["/v1/monitors", "/v1/verifications", "/v1/events"]) {
      expect((await own.sandbox.get(`${path}?cursor=${cursor}`)).status).toBe(400);
    }
    expect((await own.sandbox.get("/v1/entities?cursor=nonsense")).status).toBe(400);
  });
});
