import { afterEach, describe, expect, test } from "@jest/globals";
import { ORIGIN, startDashboard } from "./testing/dashboard.ts";
import { KEY_VALUE, SECRET } from "./testing/fake-services.ts";
import { EMAIL, PASSWORD } from "./testing/fake-sessions.ts";

const dashboard = await startDashboard();

afterEach(() => dashboard.state.failures.clear());

describe("every answer", () => {
  test.each(["/", "/sign-in", "/test/api-keys", "/nothing", "/%"])(
    "to GET %s is only for this origin and is stored nowhere",
    async (path) => {
      const { headers } = await dashboard.visitor().get(path);
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-security-policy":
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cache-control": "no-store",
        "x-request-id": expect.stringMatching(/^req_/),
      });
      expect(headers.has("x-powered-by")).toBe(false);
    },
  );

  test("is HTML without resources of other sites and without inline scripts", async () => {
    const visitor = dashboard.visitor();
    await visitor.signIn();
    for (const path of ["/sign-in", "/test/api-keys", "/live/webhooks", "/nothing"]) {
      const { text } = await visitor.get(path);
      expect(text).not.toMatch(/<style|style=|\son\w+=|javascript:/i);
      expect(text).not.toMatch(/<script(?! src="\/static\/)/);
      expect(text).not.toMatch(/(src|href)="(?![/#])/);
    }
  });

  test("says on paper whose data it shows, of which environment, when and to whom", async () => {
    const visitor = dashboard.visitor();
    await visitor.signIn();
    const { text } = await visitor.get("/test/usage");
    expect(text).toMatch(
      new RegExp(
        `<p class="printed"><strong>Acme &amp; Sons</strong> · Test environment: .+ As of [0-9-]+ [0-9:]+ UTC, for ${EMAIL}\\.</p>`,
      ),
    );
  });

  test("is compressed, except answers to forms, which may show secrets", async () => {
    const visitor = dashboard.visitor();
    await visitor.signIn();
    for (const encoding of ["br", "gzip"]) {
      const { headers, text } = await visitor.request("/test/api-keys", { headers: { "accept-encoding": encoding } });
      expect([headers.get("content-encoding"), headers.get("vary")]).toEqual([encoding, "Accept-Encoding"]);
      expect(text).toContain("<h1>API keys</h1>");
    }
    const shown = await visitor.post("/test/webhooks/secret/show");
    expect([shown.text.includes(SECRET), shown.headers.get("content-encoding")]).toEqual([true, null]);
  });

  test("links files that can be cached forever, because changed content gets another path", async () => {
    const visitor = dashboard.visitor();
    const { text } = await visitor.get("/sign-in");
    const paths = [...text.matchAll(/"(\/static\/[^"]+)"/g)].map(([, path]) => path!);
    expect(paths).toHaveLength(3);
    for (const path of paths) {
      const { status, headers } = await visitor.get(path);
      expect([status, headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
    }
  });
});

describe("a request that changes something", () => {
  test.each([
    ["another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["a neighbouring host", { "sec-fetch-site": "same-site", origin: "http://other.localhost:8081" }],
    ["a browser without Sec-Fetch-Site, on another site", { origin: "https://evil.example" }],
    ["nobody knows where", {}],
  ])("from %s is refused before anything happens, also a sign-in", async (_name, headers) => {
    const visitor = dashboard.visitor();
    await visitor.signIn();
    dashboard.state.calls.length = 0;
    for (const path of ["/test/api-keys", "/test/webhooks/secret/rotate", "/sign-in", "/sign-out"]) {
      const { status, text } = await visitor.post(path, { name: "x", email: EMAIL, password: PASSWORD }, headers);
      expect(status).toBe(403);
      expect(text).toContain("This form did not come from the dashboard");
    }
    expect(dashboard.state.calls).toEqual([]);
  });

  test.each([
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "same-origin", origin: "null" },
    { origin: ORIGIN },
  ])("with %j is the dashboard's own", async (headers) => {
    expect((await dashboard.visitor().post("/sign-out", {}, headers as Record<string, string>)).status).toBe(303);
  });

  test.each([
    ["more than 16 kB", 413, "application/x-www-form-urlencoded", `a=${"x".repeat(17_000)}`],
    ["a thousand fields", 413, "application/x-www-form-urlencoded", "a=1&".repeat(1_000)],
    ["JSON", 415, "application/json", "{}"],
    ["a file", 415, "multipart/form-data; boundary=x", "--x--"],
    ["another charset", 400, "application/x-www-form-urlencoded; charset=utf-7", "a=1"],
  ])("with %s is refused with %i", async (_name, status, type, body) => {
    const headers = { origin: ORIGIN, "content-type": type };
    const answer = await dashboard.visitor().request("/sign-in", { method: "POST", headers, body });
    expect(answer.status).toBe(status);
    expect(answer.text).toContain("<h1>");
  });
});

describe("errors are answered with a page", () => {
  test.each([
    ["Page not found", "/nothing", 404],
    ["a malformed path", "/test/api-keys/%/revoke", 400],
    ["no such environment", "/sandbox/api-keys", 404],
  ])("%s", async (_name, path, status) => {
    const answer = await dashboard.visitor().get(path);
    expect(answer.status).toBe(status);
    expect(answer.text).toContain("<h1>");
  });

  test("a missing object, with the way to the other environment, which its id may belong to", async () => {
    const visitor = dashboard.visitor();
    await visitor.signIn();
    const id = "dlv_01m7ygvppkenma4hm7yf5h5159";
    const { status, text } = await visitor.get(`/live/webhooks/deliveries/${id}`);
    expect(status).toBe(404);
    expect(text).toContain("<h1>Not found</h1>");
    expect(text).toContain(`<a href="/test/webhooks/deliveries/${id}">Look for it in Test</a>`);
  });

  test("the text of an internal error is withheld, and the page shows the request id of its log line", async () => {
    const visitor = dashboard.visitor();
    await visitor.signIn();
    dashboard.fail("listApiKeys", "internal_error", { message: "mongodb://secret" });
    const { status, text, headers } = await visitor.get("/test/api-keys");
    expect(status).toBe(500);
    expect(text).not.toContain("mongodb");
    expect(text).toContain(headers.get("x-request-id"));
    const line = dashboard.logs.find((logged) => logged.request_id === headers.get("x-request-id"));
    expect(line).toMatchObject({ level: "error", msg: "request", err: { code: "internal_error" } });
  });

  test("without account pages are a 503 with an explanation", async () => {
    const own = await startDashboard();
    const visitor = own.visitor();
    await visitor.signIn();
    await own.stop("account");
    for (const answer of [await visitor.get("/test/api-keys"), await visitor.signIn()]) {
      expect(answer.status).toBe(503);
      expect(answer.headers.has("retry-after")).toBe(true);
      expect(answer.text).toContain("The dashboard is temporarily unavailable");
    }
    expect(await visitor.get("/sign-in")).toMatchObject({
      status: 200,
      text: expect.stringContaining('action="/sign-in"'),
    });
    await own.close();
  });
});

test("each request is logged in one line with its route, and no line contains input or page content", async () => {
  const visitor = dashboard.visitor();
  await visitor.signIn();
  const form = { form_token: await visitor.formToken("/test/api-keys"), name: "Logged", scopes: ["entities:read"] };
  await visitor.post("/test/api-keys", form);
  await visitor.post("/test/webhooks/secret/show");
  const typed = { token: "token-in-a-link", password: "typed-password", email: "typed@acme.example" };
  for (const path of ["/sign-up/confirm", "/reset-password", "/invitation", "/unsubscribe", "/forgot-password"]) {
    await visitor.get(`${path}?token=${typed.token}`);
    await visitor.post(path, typed);
  }
  const vendor = { uei: "SANDBXACTVE1", tin: "912345678", legal_name: "Typed LLC" };
  const form_token = await visitor.formToken("/test/verifications/new");
  await visitor.post("/test/verifications", { form_token, ...vendor, checks: "sam_registration", mode: "realtime" });
  const { headers } = await visitor.get("/test/api-keys/key_9/revoke?secret=in-a-query");
  expect(dashboard.logs.filter((line) => line.request_id === headers.get("x-request-id"))).toEqual([
    {
      level: "info",
      msg: "request",
      request_id: headers.get("x-request-id"),
      method: "GET",
      route: "/test/api-keys/:key_id/revoke",
      status: 404,
      complete: true,
      duration_ms: expect.any(Number),
      user_id: "usr_1",
      organization_id: "org_1",
    },
  ]);
  const text = JSON.stringify(dashboard.logs);
  const secrets = [EMAIL, PASSWORD, KEY_VALUE, SECRET, "Logged", "in-a-query", form.form_token, "tokentoken"];
  for (const secret of [...secrets, ...Object.values(typed), ...Object.values(vendor)]) {
    expect(text).not.toContain(secret);
  }
});
