import { beforeEach, describe, expect, test } from "@jest/globals";
import { HOME } from "../http/next-path.ts";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { SECRET } from "../testing/fake-services.ts";
import { PASSWORD } from "../testing/fake-sessions.ts";

const { dashboard, visitor } = dashboardPerTest();

test("the user’s email leads to the security page, which every role may use", async () => {
  dashboard.state.role = "read_only";
  expect((await visitor.get("/test/api-keys")).text).toContain('<a class="email" href="/test/security">');
  expect((await visitor.get("/test/security")).text).toContain("<h1>Security</h1>");
});

describe("sessions", () => {
  test("are listed with browser, address, start and last use, but without their tokens", async () => {
    const { text } = await visitor.get("/live/security");
    for (const expected of ["Firefox on Linux", "203.0.113.9", "2026-11-20 08:00:00 UTC", "2026-11-20 09:30:00 UTC"])
      expect(text).toContain(expected);
    expect(text).toContain("this browser");
    expect(text).not.toContain("End all other sessions");
    for (const token of dashboard.state.sessions) expect(text).not.toContain(token);
  });

  test("show the name of a browser as text, whatever its header contains", async () => {
    dashboard.state.userAgent = "<script>alert(1)</script>";
    expect((await visitor.get("/live/security")).text).toContain("An unknown browser");
  });

  test("can be ended one at a time, and are refused elsewhere at the next request", async () => {
    const elsewhere = dashboard.visitor();
    await elsewhere.signIn();
    const { text } = await visitor.get("/live/security");
    const ids = [...text.matchAll(/name="session_id" value="([^"]+)"/g)].map(([, id]) => id!);
    expect(ids).toHaveLength(1);
    const { location } = await visitor.post("/live/security/sessions/end", { session_id: ids[0]! });
    expect(location).toBe("/live/security?done=ended");
    expect((await visitor.get(location!)).text).toContain("The session has ended.");
    expect((await elsewhere.get("/live/api-keys")).status).toBe(303);
  });

  test("can be ended all at once, except this one", async () => {
    const others = [dashboard.visitor(), dashboard.visitor()];
    for (const other of others) await other.signIn();
    const { location } = await visitor.post("/test/security/sessions/end-others");
    expect((await visitor.get(location!)).text).toContain("All other sessions have ended.");
    for (const other of others) expect((await other.get("/test/api-keys")).status).toBe(303);
  });
});

describe("a password", () => {
  const next = "another horse battery staple";
  const form = { current_password: PASSWORD, password: next, again: next };

  test("can be changed by users who know it: this browser gets a new session, and all others end", async () => {
    const [before, elsewhere] = [visitor.clone(), dashboard.visitor()];
    await elsewhere.signIn();
    const { location, cookies } = await visitor.post("/live/security/password", form);
    expect(cookies[0]).toMatch(/^__Host-session=[\w-]+; Path=\/; Expires=[^;]+ GMT; HttpOnly; Secure; SameSite=Lax$/);
    expect((await visitor.get(location!)).text).toContain("Your password was changed.");
    for (const other of [before, elsewhere]) expect((await other.get("/live/security")).status).toBe(303);
  });

  test.each([
    ["the current one is wrong", { ...form, current_password: "guess-1234" }, "This is not your password."],
    ["the two are not the same", { ...form, again: "mistyped-1234" }, "The two new passwords are not the same."],
  ])("is not changed if %s, and no input is sent back", async (_name, wrong, reason) => {
    const { status, text } = await visitor.post("/live/security/password", wrong);
    expect(status).toBe(400);
    expect(text).toContain(reason);
    for (const typed of Object.values(wrong)) expect(text).not.toContain(typed);
    expect(dashboard.state.calls).toEqual([]);
  });

  test("that account refuses is refused with the reason", async () => {
    const details = [{ path: "password", message: "must be 8–200 characters" }];
    dashboard.fail("changePassword", "invalid_request", { details });
    const { text } = await visitor.post("/live/security/password", form);
    expect(text).toContain("The new password must be 8–200 characters.");
  });
});

test("a user who signed in with an identity provider is asked for no password", async () => {
  dashboard.state.identityProviderId = "acme";
  dashboard.state.authenticatedAt = new Date(Date.now() - 16 * 60_000);
  const confirm = "/live/security/confirm?next=%2Flive%2Fapi-keys";
  for (const [path, text] of [
    ["/live/security", "with your organization’s identity provider"],
    ["/live/api-keys", `href="${confirm}">Confirm your identity</a>`],
    [confirm, 'href="/sign-in/sso/acme?again&amp;next=%2Flive%2Fapi-keys"'],
  ] as const) {
    const page = await visitor.get(path);
    expect(page.text).toContain(text);
    expect(page.text).not.toMatch(/type="password"|knows your password/);
  }
});

describe("a password entered long ago", () => {
  beforeEach(() => {
    dashboard.state.authenticatedAt = new Date(Date.now() - 16 * 60_000);
  });

  test("is confirmed: the session gets a new token, and the page leads back", async () => {
    const before = visitor.clone();
    expect((await visitor.get("/live/security/confirm?next=%2Flive%2Fwebhooks")).text).toContain(
      'name="next" value="/live/webhooks"',
    );
    const form = { next: "/live/webhooks", password: PASSWORD };
    const { location } = await visitor.post("/live/security/confirm", form);
    expect(location).toBe("/live/webhooks?done=confirmed");
    expect((await visitor.get(location!)).text).toContain("Your previous action was not carried out yet");
    expect((await visitor.post("/live/webhooks/secret/show")).text).toContain(SECRET);
    expect((await before.get("/live/webhooks")).status).toBe(303);
  });

  test("is refused if it is wrong, sent too often, or would lead to another site", async () => {
    const wrong = await visitor.post("/live/security/confirm", { next: "/live/webhooks", password: "guess-1234" });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain("This is not your password.");
    expect(wrong.text).not.toContain("guess-1234");
    expect((await visitor.post("/live/webhooks/secret/show")).status).toBe(303);
    dashboard.fail("reauthenticate", "rate_limited", { message: "Too many." });
    const form = { next: "https://evil.example/", password: PASSWORD };
    expect((await visitor.post("/live/security/confirm", form)).status).toBe(429);
    dashboard.state.failures.clear();
    expect((await visitor.post("/live/security/confirm", form)).location).toBe(`${HOME}?done=confirmed`);
  });
});
