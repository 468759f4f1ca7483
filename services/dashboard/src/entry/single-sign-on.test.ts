import { describe, expect, test } from "@jest/globals";
import { dashboardPerTest, ORIGIN } from "../testing/dashboard.ts";

const { dashboard } = dashboardPerTest({ signsIn: false });

test("the sign-in page offers it, and works without it while the providers can't be read", async () => {
  expect((await dashboard.visitor().get("/sign-in")).text).toContain("Sign in with Acme");
  dashboard.fail("findIdentityProvider", "service_unavailable");
  const page = await dashboard.visitor().get("/sign-in");
  expect(page.status).toBe(200);
  expect(page.text).not.toContain("Sign in with Acme");
});

describe("by an address", () => {
  test("its domain leads to the provider through a link, because forms can't leave the dashboard", async () => {
    const page = await dashboard.visitor().post("/sign-in/sso", { email: "ada@acme.example", next: "/live/usage" });
    expect(page.status).toBe(200);
    expect(page.headers.get("refresh")).toBe("0; url=/sign-in/sso/acme?next=%2Flive%2Fusage");
    expect(page.text).toContain(`href="/sign-in/sso/acme?next=%2Flive%2Fusage"`);
  });

  test.each(["ada@other.example", "nobody", ""])("%j leads nowhere, and says so", async (email) => {
    const page = await dashboard.visitor().post("/sign-in/sso", { email });
    expect(page.status).toBe(400);
    expect(page.text).toContain("Single sign-on is not set up");
  });
});

test("a sign-in with the provider starts a session and leads back to the requested page", async () => {
  const visitor = dashboard.visitor();
  const out = await visitor.get("/sign-in/sso/acme?next=/live/webhooks");
  expect([out.status, out.location]).toEqual([303, "https://login.acme.example/go?state=state1"]);
  expect(out.cookies.join()).toMatch(/^__Host-single-sign-on-[\w-]{22}=trip-[\w-]+; .*HttpOnly; Secure; SameSite=Lax/);
  const back = await visitor.get("/sign-in/sso/acme/callback?code=c&state=state1");
  expect([back.status, back.location]).toEqual([303, "/live/webhooks"]);
  expect(back.cookies.join()).toMatch(/^__Host-single-sign-on-[\w-]{22}=;/);
  expect(dashboard.state.calls).toEqual([
    `beginSingleSignOn ${ORIGIN}/sign-in/sso/acme/callback /live/webhooks false`,
    "finishSingleSignOn acme code=c&state=state1",
  ]);
  expect((await visitor.get("/live/webhooks")).status).toBe(200);
});

test("no link leads to another site", async () => {
  await dashboard.visitor().get("/sign-in/sso/acme?next=https://evil.example");
  expect(dashboard.state.calls[0]).toContain(" / ");
});

test("a browser that did not begin the sign-in gets a message and no session", async () => {
  const back = await dashboard.visitor().get("/sign-in/sso/acme/callback?code=c&state=state1");
  expect(back.status).toBe(401);
  expect(back.text).toContain("This sign-in is over.");
  expect(back.cookies.join()).not.toContain("__Host-session=");
});

test.each([
  ["/sign-in/sso/nobody", undefined, "There is none.", 404],
  ["/sign-in/sso/acme", "service_unavailable", "Acme does not answer.", 503],
  ["/sign-in/sso/acme", "rate_limited", "Too many sign-ins were begun.", 429],
] as const)("%s that leads nowhere says so (%s)", async (path, code, message, status) => {
  if (code) dashboard.fail("beginSingleSignOn", code, { message });
  const page = await dashboard.visitor().get(path);
  expect(page.status).toBe(status);
  expect(page.text).toContain(message);
});

test("a right password is refused with an explanation if the organization requires its provider", async () => {
  const message = "Your organization signs in with Acme alone.";
  dashboard.fail("signIn", "forbidden", { message });
  const page = await dashboard.visitor().post("/sign-in", { email: "ada@acme.example", password: "right" });
  expect(page.status).toBe(401);
  expect(page.text).toContain(message);
});
