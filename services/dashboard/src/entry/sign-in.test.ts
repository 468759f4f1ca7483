import { describe, expect, test } from "@jest/globals";
import { dashboardPerTest, startDashboard } from "../testing/dashboard.ts";
import { EMAIL, PASSWORD } from "../testing/fake-sessions.ts";

const { dashboard } = dashboardPerTest({ signsIn: false });

describe("a sign-in", () => {
  test("starts a session in a cookie that scripts, neighbouring hosts and plaintext connections cannot read", async () => {
    const { status, location, cookies } = await dashboard.visitor().signIn();
    expect([status, location]).toEqual([303, "/"]);
    expect(cookies).toHaveLength(2);
    expect(cookies[0]).toMatch(/^__Host-session=[\w-]+; Path=\/; Expires=[^;]+ GMT; HttpOnly; Secure; SameSite=Lax$/);
  });

  test("has the same answer for an unknown address and a wrong password, and never shows the password again", async () => {
    const visitor = dashboard.visitor();
    const wrong = await visitor.post("/sign-in", { email: EMAIL, password: "guess" });
    const unknown = await visitor.post("/sign-in", { email: "eve@acme.example", password: "guess" });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.text.replaceAll(EMAIL, "")).toBe(unknown.text.replaceAll("eve@acme.example", ""));
    expect(wrong.text).not.toContain("guess");
    expect(wrong.cookies).toEqual([]);
  });

  test("that comes too often again costs no further calls, and its page still has all links", async () => {
    dashboard.fail("signIn", "rate_limited");
    await dashboard.visitor().signIn();
    dashboard.fail("getEntryOptions", "service_unavailable");
    const { status, text } = await dashboard.visitor().signIn();
    expect(status).toBe(429);
    expect(text).toContain("/forgot-password");
  });

  test("ends the previous session of the browser, and starts another", async () => {
    const visitor = dashboard.visitor();
    const first = (await visitor.signIn()).cookies[0];
    const second = (await visitor.signIn()).cookies[0];
    expect(second).not.toBe(first);
    expect(dashboard.state.sessions.size).toBe(1);
  });

  test.each([
    ["/live/webhooks", "/live/webhooks"],
    ["https://evil.example/", "/"],
    ["//evil.example/live/webhooks", "/"],
  ])("with the next page %s leads to %s", async (next, location) => {
    const answer = await dashboard.visitor().post("/sign-in", { email: EMAIL, password: PASSWORD, next });
    expect(answer.location).toBe(location);
  });

  test.each([
    [0, "127.0.0.1"],
    [1, "203.0.113.9"],
  ])("behind %i trusted proxies counts for %s", async (trustedProxyHops, clientAddress) => {
    const proxied = await startDashboard({ trustedProxyHops });
    const headers = { origin: "http://localhost:8081", "x-forwarded-for": "198.51.100.1, 203.0.113.9" };
    await proxied.visitor().post("/sign-in", { email: EMAIL, password: PASSWORD }, headers);
    expect(proxied.state.calls).toEqual([`signIn ${JSON.stringify({ email: EMAIL, clientAddress })}`]);
    await proxied.close();
  });

  test("through a proxy that is not trusted is warned of once, because all browsers share the proxy's limits", async () => {
    const headers = { origin: "http://localhost:8081", "x-forwarded-for": "198.51.100.1" };
    const [visitor, form] = [dashboard.visitor(), { email: EMAIL, password: PASSWORD }];
    for (let call = 0; call < 2; call++) await visitor.post("/sign-in", form, headers);
    const warnings = dashboard.logs.filter(({ level }) => level === "warn");
    expect(warnings).toMatchObject([{ contradiction: "none_trusted", trusted_proxy_hops: 0 }]);
  });
});

describe("without a session", () => {
  const pages = ["/test/api-keys", "/live/api-keys", "/live/webhooks", "/live/api-keys/key_1/revoke"];

  test.each(pages)("%s leads to the sign-in page and back", async (path) => {
    const { status, location, text } = await dashboard.visitor().get(path);
    expect([status, location]).toEqual([303, `/sign-in?next=${encodeURIComponent(path)}`]);
    expect(text).not.toContain("form");
  });

  test("a session that was ended elsewhere is refused at the next request, and its cookie is deleted", async () => {
    const visitor = dashboard.visitor();
    await visitor.signIn();
    expect((await visitor.get("/test/api-keys")).status).toBe(200);
    dashboard.state.sessions.clear();
    const { location, cookies } = await visitor.get("/test/api-keys");
    expect(location).toBe("/sign-in?next=%2Ftest%2Fapi-keys");
    expect(cookies[0]).toMatch(/^__Host-session=; Path=\/; Expires=Thu, 01 Jan 1970 00:00:00 GMT/);
  });
});

describe("a sign-out", () => {
  test("ends the session everywhere", async () => {
    const visitor = dashboard.visitor();
    await visitor.signIn();
    const elsewhere = visitor.clone();
    expect((await visitor.post("/sign-out")).location).toBe("/sign-in?signed_out");
    expect((await elsewhere.get("/test/api-keys")).status).toBe(303);
  });

  test("without account deletes the session from this browser, and says that something went wrong", async () => {
    const visitor = dashboard.visitor();
    await visitor.signIn();
    await dashboard.stop("account");
    const { status, cookies } = await visitor.post("/sign-out");
    expect(status).toBe(503);
    expect(cookies[0]).toMatch(/^__Host-session=;/);
  });
});
