import { beforeEach, describe, expect, test } from "@jest/globals";
import { type Scope, scopes } from "@vvs/api-keys";
import { catalogue, ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import type { Route } from "./routes/route.ts";
import { routes } from "./routes/table.ts";
import { startTestGateway } from "./testing/gateway.ts";
import { bodies, entity, entityId, monitor } from "./testing/samples.ts";

const gateway = await startTestGateway();
const { key } = gateway;
const exhausted = gateway.account.createKey({ limitPerMinute: 0 }).value;
const suspended = gateway.account.createKey({ suspended: true }).value;
const readOnlyNothing = gateway.account.createKey({ scopes: ["nothing" as Scope] }).value;
beforeEach(() => {
  gateway.entity.on("getEntity", () => ({ entity }));
  gateway.entity.on("createEntity", () => ({ entity }));
});

function failServices(error: Error): void {
  for (const fake of [gateway.entity, gateway.verification, gateway.jobs, gateway.monitor]) fake.failAll(error);
}

const idOf = (route: Route) => newId(route.id?.prefix ?? "ent");
const pathOf = (route: Route) => route.path.replace(":id", idOf(route));
const bodyOf = (route: Route) => {
  if (!route.body) return undefined;
  if (route.method === "PUT") return { external_id: "V-100" };
  return route.method === "PATCH" ? { frequency: "daily" } : bodies[route.path as keyof typeof bodies];
};

describe.each(routes.map((route) => [route.method, route.path, route] as const))("%s %s", (method, path, route) => {
  test("requires a key", async () => {
    const { status, headers, body } = await gateway.send(method, pathOf(route), { body: bodyOf(route) });
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).toBe("Bearer");
    expect(body).toEqual({
      error: "unauthorized",
      message: expect.any(String),
      request_id: expect.any(String),
      doc_url: "https://api.example.test/docs#error-unauthorized",
    });
  });

  test(`requires the scope ${route.scope}; the other scopes together are not enough`, async () => {
    const others = scopes.filter((scope) => scope !== route.scope);
    const lacking = gateway.account.createKey({ scopes: others }).value;
    const { status, body } = await gateway.send(method, pathOf(route), { key: lacking, body: bodyOf(route) });
    expect(status).toBe(403);
    expect(body.error).toBe("forbidden");
    expect(body.message).toContain(route.scope);
  });

  test("is refused to a suspended organization", async () => {
    const { status, body } = await gateway.send(method, pathOf(route), { key: suspended, body: bodyOf(route) });
    expect([status, body.error]).toEqual([403, "forbidden"]);
  });

  test("is refused over the limit", async () => {
    const { status, headers } = await gateway.send(method, pathOf(route), { key: exhausted, body: bodyOf(route) });
    expect(status).toBe(429);
    expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  });

  test("refuses an unknown query parameter", async () => {
    const { status, body } = await gateway.send(method, `${pathOf(route)}?colour=red`, { key, body: bodyOf(route) });
    expect(status).toBe(400);
    expect(body.details).toEqual([{ path: "colour", message: "is an unknown parameter" }]);
  });

  test("hides internal errors of its service, and the service's refusals of the gateway", async () => {
    for (const thrown of [new Error("secret"), new ServiceError("forbidden", { message: "secret" })]) {
      failServices(thrown);
      const { status, body } = await gateway.send(method, pathOf(route), { key, body: bodyOf(route) });
      expect(status).toBe(500);
      expect(JSON.stringify(body)).not.toContain("secret");
      expect(body.error).toBe("internal_error");
    }
  });

  test("passes on what its service refuses, and why", async () => {
    const details = [{ path: "webhook_url", message: "must be public" }];
    const documented = [...(route.docs.errors ?? []), ...(route.id ? [route.id.missing] : [])];
    for (const code of [...documented, "invalid_request"] as const) {
      failServices(new ServiceError(code, { message: "This is why.", details, entityId }));
      const { status, body } = await gateway.send(method, pathOf(route), { key, body: bodyOf(route) });
      const expected = { error: code, message: "This is why.", details, entity_id: entityId };
      expect([status, body]).toMatchObject([catalogue[code].http, expected]);
    }
  });

  test("names the one problem that its service found in the message too", async () => {
    failServices(new ServiceError("invalid_request", { details: [{ path: "external_id", message: "must be new" }] }));
    const { body } = await gateway.send(method, pathOf(route), { key, body: bodyOf(route) });
    expect(body.message).toBe("The request is invalid: external_id must be new.");
  });

  if (route.id) {
    test.each(["x", "lookups", "ent_", newId("usr"), "%00", "..%2f..", "a".repeat(2_000)])(
      `answers what can't be such an id (%s) as ${route.id.missing}, without a call`,
      async (id) => {
        const before = gateway.entity.calls.length + gateway.verification.calls.length + gateway.monitor.calls.length;
        const { status, body } = await gateway.send(method, path.replace(":id", id), { key, body: bodyOf(route) });
        expect([status, body.error]).toEqual([404, route.id!.missing]);
        const after = gateway.entity.calls.length + gateway.verification.calls.length + gateway.monitor.calls.length;
        expect(after).toBe(before);
      },
    );
  }

  if (route.body) {
    test.each([
      ["no body", undefined, 400],
      ["an empty body", "", 400],
      ["spaces", "  ", 400],
      ["broken JSON", "{", 400],
      ["an array", "[]", 400],
      ["a text", '"text"', 400],
      ["null", "null", 400],
      ["a number", "1", 400],
      ["an unknown field", '{"colour":"red"}', 400],
      ["__proto__", '{"__proto__":{"admin":true}}', 400],
      ["constructor", '{"constructor":{"prototype":{}}}', 400],
      ["100 kB of spaces and more", " ".repeat(100_000 + 1), 413],
    ])("%s is refused", async (_name, body, expected) => {
      const headers = { "Content-Type": "application/json" };
      const { status, body: answer } = await gateway.send(method, pathOf(route), { key, body, headers });
      expect(status).toBe(expected);
      expect(answer.request_id).toEqual(expect.any(String));
    });

    test.each([
      ["text/plain", {}],
      ["application/x-www-form-urlencoded", {}],
      ["application/json; charset=latin1", {}],
      ["application/json-patch+json", {}],
      ["application/json", { "Content-Encoding": "gzip" }],
    ])("a body of type %s %j is 415", async (type, headers) => {
      const { status, body } = await gateway.send(method, pathOf(route), {
        key,
        body: "{}",
        headers: { "Content-Type": type, ...headers },
      });
      expect([status, body.error]).toEqual([415, "unsupported_media_type"]);
    });
  }
});

describe("the order of refusals", () => {
  interface Flaw {
    readonly status: number;
    readonly path?: string;
    readonly method?: string;
    readonly key?: string | null;
    readonly type?: string;
    readonly body?: string;
  }
  /** Flaws that each make a valid POST /v1/monitors invalid, in the order in which they must be reported. */
  const flaws = (): Readonly<Record<string, Flaw>> => ({
    "unknown path": { status: 404, path: "/v1/monitorz" },
    "wrong method": { status: 405, method: "PUT" },
    "no key": { status: 401, key: null },
    "limit reached": { status: 429, key: exhausted },
    "wrong type": { status: 415, type: "text/plain" },
    "invalid body": { status: 400, body: '{"colour":"red"}' },
    "missing scope": { status: 403, key: readOnlyNothing },
    "unknown object": { status: 404, body: JSON.stringify({ ...bodies["/v1/monitors"], entity_id: "ent_none" }) },
    conflict: { status: 409 },
  });
  const names = Object.keys(flaws());
  const combinable = ([first, second]: readonly [string, string]) => {
    const [one, other] = [flaws()[first]!, flaws()[second]!];
    return !(["path", "method", "key", "type", "body"] as const).some(
      (part) => part in one && part in other && one[part] !== other[part],
    );
  };
  const pairs = names
    .flatMap((first, index) => names.slice(index + 1).map((second) => [first, second] as const))
    .filter(combinable);

  test.each(pairs)("%s comes before %s", async (first, second) => {
    gateway.monitor.on("createMonitor", () => {
      throw new ServiceError("idempotency_conflict");
    });
    const [one, other] = [flaws()[first]!, flaws()[second]!];
    const flaw = { ...other, ...one };
    const { status } = await gateway.send(flaw.method ?? "POST", flaw.path ?? "/v1/monitors", {
      key: flaw.key === null ? undefined : (flaw.key ?? key),
      headers: { "Content-Type": flaw.type ?? "application/json" },
      body: flaw.body ?? JSON.stringify(bodies["/v1/monitors"]),
    });
    expect(status).toBe(one.status);
  });

  test.each([
    ["401 before 429", () => ({ key: undefined, type: "application/json", body: "{" }), 401],
    ["429 before 403", () => ({ key: exhausted, type: "application/json", body: "{}" }), 429],
    ["413 before 403", () => ({ key: readOnlyNothing, type: "application/json", body: " ".repeat(200_000) }), 413],
    [
      "400 before the suspended organization's 403",
      () => ({ key: suspended, type: "application/json", body: "{" }),
      400,
    ],
    ["403 before 404", () => ({ key: suspended, type: "application/json", body: '{"frequency":"daily"}' }), 403],
  ])("%s", async (_name, flaw, expected) => {
    const { key, type, body } = flaw();
    const { status } = await gateway.send("PATCH", "/v1/monitors/none", {
      key,
      body,
      headers: { "Content-Type": type },
    });
    expect(status).toBe(expected);
  });
});

test("services are called with the key's organization, environment and actor, and the client's address", async () => {
  const { value, record } = gateway.account.createKey({ environment: "sandbox" });
  gateway.monitor.on("getMonitor", () => ({ monitor }));
  await gateway.send("GET", `/v1/monitors/${monitor.id}`, {
    key: value,
    headers: { "X-Request-Id": "mine-1", "X-Forwarded-For": "203.0.113.9, 198.51.100.7" },
  });
  expect(gateway.monitor.calls.at(-1)!.request).toMatchObject({
    caller: {
      tenant: { organizationId: record.tenant!.organizationId, environment: record.tenant!.environment },
      actor: record.id,
      requestId: "mine-1",
      clientAddress: "198.51.100.7",
    },
  });
});
