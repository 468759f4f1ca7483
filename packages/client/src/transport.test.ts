import { expect, test } from "@jest/globals";
import { ApiError, type ClientOptions, ConnectionError, createClient, TimeoutError } from "./index.ts";
import {
  type Answer,
  dropped,
  endless,
  json,
  type ScriptedServer,
  silent,
  startServer,
  text,
  truncated,
} from "./testing/scripted-server.ts";

const KEY = "svc_test_key";
const entity = { id: "ent_1", legal_name: "Acme" };
const ok = json(200, entity);
const unavailable = json(503, { error: "service_unavailable", message: "Try again.", request_id: "req_1" });
const limited = json(
  429,
  { error: "rate_limited", message: "Slow down.", request_id: "req_1" },
  { "Retry-After": "0" },
);

function clientOf(server: ScriptedServer, options: Partial<ClientOptions> = {}) {
  return createClient({ baseUrl: server.url, apiKey: KEY, ...options });
}

const failures: [string, Answer][] = [
  ["503", unavailable],
  ["429 with Retry-After", limited],
  ["a dropped connection", dropped],
  ["half a body", truncated],
  ["a 200 that is not JSON", text(200, "<html>")],
  ["an HTML page of a load balancer", text(502, "<html>")],
];

test.each(failures)("a read is repeated after %s", async (_name, failure) => {
  await using server = await startServer(failure, ok);
  expect(await clientOf(server).getEntity("ent_1")).toEqual(entity);
  expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(Array(2).fill("GET /v1/entities/ent_1"));
});

test("a read is repeated after an attempt that took too long, its body included", async () => {
  await using server = await startServer(silent, endless, ok);
  expect(await clientOf(server, { attemptTimeoutMs: 1_000 }).getEntity("ent_1")).toEqual(entity);
  expect(server.requests).toHaveLength(3);
});

test.each(failures)(
  "a creation is repeated after %s, with the same Idempotency-Key and body",
  async (_name, failure) => {
    await using server = await startServer(failure, json(201, entity));
    const client = clientOf(server);
    expect(await client.createEntity({ legal_name: "Acme" })).toEqual(entity);
    await client.createEntity({ legal_name: "Acme" });
    const [first, second, other] = server.requests.map(({ headers }) => headers["idempotency-key"]);
    expect(first).toMatch(/^[\w-]{36}$/);
    expect([second, other === first]).toEqual([first, false]);
    expect(server.requests.map(({ body }) => body)).toEqual(Array(3).fill('{"legal_name":"Acme"}'));
  },
);

test("a call waits for an earlier one with the same key and gets its answer", async () => {
  const running = json(409, { error: "idempotency_conflict", message: "Still running.", request_id: "req_1" });
  await using server = await startServer(running, ok);
  expect(await clientOf(server).createEntity({ legal_name: "Acme" }, { idempotencyKey: "mine" })).toEqual(entity);
  expect(server.requests.map(({ headers }) => headers["idempotency-key"])).toEqual(["mine", "mine"]);
});

test("a look-up is repeated without an Idempotency-Key, because it has no effect", async () => {
  await using server = await startServer(dropped, ok);
  await clientOf(server).lookup({ legal_name: "Acme" }, { explain: true });
  expect(server.requests.map(({ url }) => url)).toEqual(Array(2).fill("/v1/entities/lookup?explain=true"));
  expect(server.requests[0]!.headers["idempotency-key"]).toBeUndefined();
});

test.each<[string, (client: ReturnType<typeof createClient>) => Promise<unknown>]>([
  ["updateMonitor", (client) => client.updateMonitor("mon_1", { frequency: "daily" })],
  ["setExternalId", (client) => client.setExternalId("ent_1", "V-1")],
])(
  "%s is repeated only if it was refused, because a second time it could undo a later change",
  async (_name, update) => {
    await using server = await startServer(limited, dropped, ok);
    await expect(update(clientOf(server))).rejects.toThrow(ConnectionError);
    expect(server.requests).toHaveLength(2);
  },
);

test("a refusal is not repeated and has all that the service said", async () => {
  const details = [{ path: "identifiers.uei", message: "must be 12 characters" }];
  const body = { error: "invalid_request", message: "The request is invalid.", request_id: "req_7", details };
  await using server = await startServer(json(400, body));
  const error = await clientOf(server)
    .verify({ identifiers: { uei: "x" }, checks: ["sam_registration"], mode: "realtime" }, { idempotencyKey: "k" })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    name: "ApiError",
    message: "The request is invalid.",
    status: 400,
    code: "invalid_request",
    requestId: "req_7",
    details,
    idempotencyKey: "k",
  });
  expect(server.requests).toHaveLength(1);
});

test("a conflict has the entity or the candidates", async () => {
  const candidates = [{ id: "ent_1", legal_name: "Acme", confidence: 1 }];
  await using server = await startServer(
    json(409, { error: "entity_exists", message: "Exists.", request_id: "req_1", entity_id: "ent_1" }),
    json(409, { error: "ambiguous_match", message: "Several.", request_id: "req_1", candidates }),
  );
  const client = clientOf(server);
  await expect(client.createEntity({ legal_name: "Acme" })).rejects.toMatchObject({ entityId: "ent_1" });
  await expect(client.lookup({ legal_name: "Acme" })).rejects.toMatchObject({ candidates });
});

test("after the last attempt the last error is thrown", async () => {
  await using server = await startServer(dropped, dropped, unavailable);
  const error = clientOf(server, { maxAttempts: 3 }).getEntity("ent_1");
  await expect(error).rejects.toMatchObject({ status: 503, code: "service_unavailable" });
  expect(server.requests).toHaveLength(3);
});

test("an answer that did not come from the service has its status, and only fields in our form", async () => {
  await using server = await startServer(text(502, "<html>", { "X-Request-Id": "req_9" }));
  const error = clientOf(server, { maxAttempts: 1 }).getEntity("ent_1");
  await expect(error).rejects.toMatchObject({ status: 502, code: "unknown", requestId: "req_9", details: [] });
  const fields = { error: "bad_gateway", message: 5, request_id: 7, details: "connection refused", candidates: {} };
  await using other = await startServer(json(502, fields));
  await expect(clientOf(other, { maxAttempts: 1 }).getEntity("ent_1")).rejects.toMatchObject({
    code: "bad_gateway",
    message: expect.stringContaining("answered 502"),
    requestId: undefined,
    details: [],
    candidates: [],
  });
});

test("a call does not begin to wait for what would come after its time", async () => {
  const body = { error: "rate_limited", message: "Slow down.", request_id: "req_1" };
  await using server = await startServer(json(429, body, { "Retry-After": "3600" }));
  await expect(clientOf(server).getEntity("ent_1")).rejects.toMatchObject({ status: 429, retryAfterSeconds: 3_600 });
  expect(server.requests).toHaveLength(1);
});

test("a call without an answer ends after its time", async () => {
  await using server = await startServer(silent);
  await expect(clientOf(server, { timeoutMs: 1_000 }).getEntity("ent_1")).rejects.toThrow(TimeoutError);
  expect(server.requests).toHaveLength(1);
});

test("an unreachable service is a ConnectionError that says why", async () => {
  const server = await startServer(ok);
  await server[Symbol.asyncDispose]();
  const error = clientOf(server, { maxAttempts: 2 }).getEntity("ent_1");
  await expect(error).rejects.toThrow(ConnectionError);
  await expect(error).rejects.toThrow("ECONNREFUSED");
});

test.each([
  ["an attempt", silent],
  ["the wait between attempts", json(503, {}, { "Retry-After": "60" })],
])("aborting ends a call during %s with the reason of the signal", async (_name, answer) => {
  const aborting = new AbortController();
  await using server = await startServer((response) => {
    answer(response);
    setImmediate(() => aborting.abort(new Error("enough")));
  });
  const call = clientOf(server).getEntity("ent_1", { signal: aborting.signal });
  await expect(call).rejects.toThrow("enough");
  expect(server.requests).toHaveLength(1);
});

test("an aborted signal makes no call", async () => {
  await using server = await startServer(ok);
  await expect(clientOf(server).getEntity("ent_1", { signal: AbortSignal.abort() })).rejects.toThrow("aborted");
  expect(server.requests).toHaveLength(0);
});

test("the key goes only to the service: a redirect is not followed", async () => {
  await using other = await startServer(ok);
  await using server = await startServer(text(302, "", { Location: `${other.url}/v1/entities/ent_1` }));
  await expect(clientOf(server).getEntity("ent_1")).rejects.toMatchObject({ status: 302 });
  expect(other.requests).toHaveLength(0);
  expect(server.requests[0]!.headers).toMatchObject({
    authorization: `Bearer ${KEY}`,
    "user-agent": expect.stringMatching(/^vendor-verification-client\/\d/),
  });
});

test("every answer is reported, also those that are repeated", async () => {
  const seen: unknown[] = [];
  await using server = await startServer(unavailable, json(200, entity, { "X-RateLimit-Remaining": "7" }));
  const client = clientOf(server, {
    onResponse: ({ method, path, status, attempt, headers }) =>
      seen.push([method, path, status, attempt, headers.get("x-ratelimit-remaining")]),
  });
  await client.getEntity("ent_1");
  expect(seen).toEqual([
    ["GET", "/v1/entities/ent_1", 503, 1, null],
    ["GET", "/v1/entities/ent_1", 200, 2, "7"],
  ]);
});

test.each(["", "acme.example", "ftp://acme.example", "https://user@acme.example", "https://acme.example?x=1"])(
  "the base URL %p is refused",
  (baseUrl) => {
    expect(() => createClient({ baseUrl, apiKey: KEY })).toThrow(TypeError);
  },
);
