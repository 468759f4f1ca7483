import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { startTestGateway, until } from "../testing/gateway.ts";
import { bodies, entity, entityId } from "../testing/samples.ts";

const gateway = await startTestGateway();
beforeEach(() => {
  gateway.entity.on("getEntity", () => ({ entity }));
  gateway.entity.on("createEntity", () => ({ entity }));
});

describe("paths and methods", () => {
  test.each([
    "/v1",
    "/v2/entities",
    "/v1/entities/",
    "/V1/entities",
    "/v1//entities",
    "/v1/monitors/x/nothing",
    "/v1/health/",
    "/admin",
  ])("%s does not exist, with or without a key", async (path) => {
    for (const options of [{}, { key: gateway.key }]) {
      const { status, body } = await gateway.send("GET", path, options);
      expect([status, body.error]).toEqual([404, "not_found"]);
    }
  });

  test.each([
    ["PUT", "/v1/entities", "POST, GET, HEAD"],
    ["DELETE", "/v1/entities", "POST, GET, HEAD"],
    ["OPTIONS", "/v1/entities", "POST, GET, HEAD"],
    ["GET", "/v1/entities/lookup", "POST"],
    ["HEAD", "/v1/verify", "POST"],
    ["PATCH", `/v1/entities/${entityId}`, "GET, HEAD"],
    ["POST", "/v1/monitors/anything", "GET, HEAD, PATCH, DELETE"],
    ["POST", "/v1/health", "GET, HEAD"],
    ["POST", "/v1/openapi.json", "GET, HEAD"],
  ])("%s %s is 405 and lists the methods of the path", async (method, path, allow) => {
    const { status, headers } = await gateway.send(method, path);
    expect(status).toBe(405);
    expect(headers.get("allow")).toBe(allow);
  });

  test("HEAD answers like GET, without the body", async () => {
    const { status, headers, body } = await gateway.send("HEAD", `/v1/entities/${entityId}`, { key: gateway.key });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/json");
    expect(Number(headers.get("content-length"))).toBeGreaterThan(100);
    expect(body).toBeUndefined();
  });
});

test.each([
  ["entities", "entity_not_found"],
  ["verifications", "verification_not_found"],
  ["monitors", "monitor_not_found"],
  ["evidence", "evidence_not_found"],
])("an id of %s that cannot be decoded is 401 without a key, and %s with one", async (list, missing) => {
  for (const id of ["%zz", "%", "%c3%28"]) {
    expect((await gateway.send("GET", `/v1/${list}/${id}`)).status).toBe(401);
    const { status, body } = await gateway.send("GET", `/v1/${list}/${id}`, { key: gateway.key });
    expect([id, status, body.error]).toEqual([id, 404, missing]);
  }
});

test.each(["/v1/health?x=1", "/v1/openapi.json?x=1", "/v1/entities??limit=1", `/v1/entities/${entityId}?x=1`])(
  "%s is refused, since its path does not take the parameter",
  async (path) => {
    const { status, body } = await gateway.send("GET", path, { key: gateway.key });
    const problem = { path: expect.stringMatching(/^(x|\?limit)$/), message: "is an unknown parameter" };
    expect([status, body.details]).toEqual([400, [problem]]);
  },
);

describe("request bodies", () => {
  function send(
    headers: Record<string, string>,
    chunks: readonly Buffer[],
    target = { method: "POST", path: "/v1/entities" },
  ): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const own = { authorization: `Bearer ${gateway.key}`, ...headers };
    const request = httpRequest({ port: gateway.port, ...target, headers: own }, (response) =>
      resolve(response.resume().statusCode!),
    );
    request.on("error", reject);
    for (const chunk of chunks) request.write(chunk);
    request.end();
    return promise;
  }
  const json = { "content-type": "application/json" };
  const valid = JSON.stringify(bodies["/v1/entities"]);

  test("of exactly 100 kB are read; one byte more is 413, with or without a Content-Length", async () => {
    const atLimit = Buffer.from(valid.padEnd(100_000, " "));
    const over = Buffer.concat([atLimit, Buffer.from(" ")]);
    expect(await send(json, [atLimit])).toBe(201);
    expect(await send(json, [over])).toBe(413);
    expect(await send({ ...json, "content-length": String(over.length) }, [over])).toBe(413);
    expect(
      await send(
        json,
        Array.from({ length: 100 }, () => Buffer.alloc(10_000, " ")),
      ),
    ).toBe(413);
  });

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    'Application/JSON;charset="UTF-8"',
    "application/json;",
    "application/json; charset=utf-8;",
  ])("of type %s are JSON", async (type) => {
    expect(await send({ "content-type": type }, [Buffer.from(valid)])).toBe(201);
  });

  test("without a type are 415, with invalid UTF-8 400; a byte order mark is accepted", async () => {
    expect(await send({}, [Buffer.from(valid)])).toBe(415);
    expect(await send(json, [Buffer.from([0x22, 0xff, 0x22])])).toBe(400);
    expect(await send(json, [Buffer.from(`\ufeff${valid}`)])).toBe(201);
  });

  test("of a GET are ignored", async () => {
    const get = { method: "GET", path: `/v1/entities/${entityId}` };
    expect(await send({ "content-length": "8" }, [Buffer.from("not json")], get)).toBe(200);
  });
});

const limits = { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 50 };
const hurried = await startTestGateway({}, limits);

describe("broken HTTP", () => {
  function raw(text: string, { port }: { port: number } = gateway): Promise<string> {
    return new Promise((resolve, reject) => {
      let answer = "";
      const socket = connect(port, "127.0.0.1", () => socket.write(text));
      socket.on("data", (chunk) => {
        answer += chunk;
      });
      socket.on("close", () => resolve(answer));
      socket.on("error", reject);
    });
  }

  test.each([
    ["text that is not HTTP", "hello\r\n\r\n", 400],
    ["two lengths", "POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400],
    [
      "two framings",
      "POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      400,
    ],
    ["no Host", "GET /v1/health HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    ["two Hosts", "GET /v1/health HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n", 400],
    [
      "two Authorizations",
      "GET /v1/entities HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAuthorization: b\r\nConnection: close\r\n\r\n",
      400,
    ],
    [
      "a transfer coding other than chunked",
      "POST /v1/verify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
      400,
    ],
    [
      "a transfer coding before chunked",
      "POST /v1/verify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n0\r\n\r\n",
      400,
    ],
    [
      "a transfer coding after chunked",
      "POST /v1/verify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
      400,
    ],
    ["an unknown method", "WONDER /v1/verify HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["CONNECT", "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["an unknown version", "GET /v1/health HTTP/3.7\r\nHost: x\r\n\r\n", 400],
    ["a header without a name", "GET /v1/health HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n", 400],
    ["headers of 20 kB", `GET /v1/health HTTP/1.1\r\nHost: x\r\nX-Big: ${"a".repeat(20_000)}\r\n\r\n`, 431],
  ])("%s is answered in JSON, with a request id", async (_name, text, status) => {
    const answer = await raw(text);
    const [head, body] = answer.split("\r\n\r\n");
    expect(head).toContain(`HTTP/1.1 ${status} `);
    expect(head!.toLowerCase()).toContain("content-type: application/json");
    const parsed = JSON.parse(body!);
    expect(parsed.error).toBe("invalid_request");
    expect(parsed.doc_url).toBe("https://api.example.test/docs#error-invalid_request");
    expect(head!.toLowerCase()).toContain(`x-request-id: ${parsed.request_id}`.toLowerCase());
  });

  const post = (key: string, framing: string, body: string) =>
    `POST /v1/entities HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nX-Request-Id: mine-3\r\n` +
    `Content-Type: application/json\r\n${framing}\r\n\r\n${body}`;
  test.each([
    ["headers that never end", () => "GET /v1/health HTTP/1.1\r\nHost: x\r\n", 408],
    ["a body that never ends", (key: string) => post(key, "Content-Length: 100", '{"legal_name":'), 408],
    ["chunks that never end", (key: string) => post(key, "Transfer-Encoding: chunked", "5\r\n{    \r\n"), 408],
    ["a chunk without a length", (key: string) => post(key, "Transfer-Encoding: chunked", "5\r\n{    \r\nzz\r\n"), 400],
    ["a body sent with an invalid key", () => post("svc_live_x", "Content-Length: 100", "{"), 401],
  ])("%s are answered in JSON, with one request id", async (_name, text, status) => {
    const answer = await raw(text(hurried.account.createKey().value), hurried);
    const [head, body] = answer.split("\r\n\r\n");
    expect(head).toContain(`HTTP/1.1 ${status} `);
    expect(head!.toLowerCase()).toContain("content-type: application/json");
    const parsed = JSON.parse(body!.split("HTTP/1.1")[0]!);
    expect(parsed).toEqual({
      error: status === 401 ? "unauthorized" : "invalid_request",
      message: expect.stringMatching(/^\w.*\.$/),
      request_id: expect.any(String),
      doc_url: `https://api.example.test/docs#error-${parsed.error}`,
    });
    expect(head!.toLowerCase()).toContain(`x-request-id: ${parsed.request_id}`.toLowerCase());
    expect(hurried.entity.calls).toEqual([]);
  });

  test("what follows a request on its connection and is not HTTP is answered after the request's own answer", async () => {
    const goOn = Promise.withResolvers<void>();
    gateway.entity.on("getEntity", () => goOn.promise.then(() => ({ entity })));
    const calls = gateway.entity.calls.length;
    const get = `GET /v1/entities/${entityId} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\n\r\n`;
    const broken = post(gateway.key, "Transfer-Encoding: chunked", "zz\r\n");
    const answering = [raw(`${get}}}`), raw(`${get}${get}${broken}`)];
    await until(() => gateway.entity.calls.length === calls + 3);
    goOn.resolve();
    const statuses = (await Promise.all(answering)).map((text) => text.match(/HTTP\/1\.1 \d+/g));
    expect(statuses).toEqual([
      ["HTTP/1.1 200", "HTTP/1.1 400"],
      ["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 400"],
    ]);
  });

  test("an unknown Expect header is ignored: the answer has its id and its body", async () => {
    const answer = await raw(
      "GET /v1/health HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nX-Request-Id: mine-2\r\nConnection: close\r\n\r\n",
    );
    const [head, body] = answer.split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect(head).toContain("\r\nX-Request-Id: mine-2\r\n");
    expect(JSON.parse(body!)).toMatchObject({ status: "ok" });
  });
});
