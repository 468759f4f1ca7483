import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { dashboardPerTest, hiddenField } from "../testing/dashboard.ts";
import { PASSKEY_RESPONSE } from "../testing/fake-passkeys.ts";
import { EMAIL } from "../testing/fake-sessions.ts";

const NO_PASSKEYS = "This browser does not support passkeys, or its scripts are turned off.";
const { dashboard, visitor } = dashboardPerTest({ signsIn: false });

describe("signing in", () => {
  test("is offered beside the password, and leads to the requested page", async () => {
    const { text } = await visitor.get("/sign-in?next=%2Flive%2Fwebhooks");
    expect(text).toContain('href="/sign-in/passkey?next=%2Flive%2Fwebhooks"');
    const asked = await visitor.get("/sign-in/passkey?next=%2Flive%2Fwebhooks");
    expect(asked.cookies[0]).toMatch(
      /^__Host-passkey-[\w-]{22}=ceremony-[\w-]+; Path=\/; Expires=[^;]+ GMT; HttpOnly; Secure; SameSite=Lax$/,
    );
    const form = { next: "/live/webhooks", ceremony: hiddenField(asked, "ceremony"), response: PASSKEY_RESPONSE };
    const { status, location, cookies } = await visitor.post("/sign-in/passkey", form);
    expect([status, location]).toEqual([303, "/live/webhooks"]);
    expect(cookies.join()).toContain("__Host-session=");
    expect((await visitor.get("/live/webhooks")).text).toContain(EMAIL);
  });

  test("says that passkeys are not supported, and links to the password, until the script finds support", async () => {
    const { text } = await visitor.get("/sign-in/passkey?next=%2Flive%2Fwebhooks");
    expect(text).toContain(NO_PASSKEYS);
    expect(text).toContain('<a href="/sign-in?next=%2Flive%2Fwebhooks">Sign in with your password.</a>');
    expect(text).toMatch(/<form [^>]*data-passkey="get"[^>]* data-now hidden>/);
    expect(text).toMatch(/passkeys\.js" defer/);
    expect(text).not.toContain("<script>");
  });

  test.each([
    ["a wrong answer", { response: "{}" }, true],
    ["no answer", {}, true],
    ["another browser’s answer", { response: PASSKEY_RESPONSE }, false],
  ])("is refused for %s, and does not start again by itself", async (_name, form, hasBegun) => {
    if (hasBegun) await visitor.get("/sign-in/passkey");
    const { status, text, cookies } = await visitor.post("/sign-in/passkey", form);
    expect(status).toBe(401);
    expect(text).toContain("This passkey does not sign in here, or it took too long.");
    expect(text).not.toContain("data-now");
    expect(cookies.join()).not.toContain("__Host-session");
  });

  test.each(["begin", "finish"])("that is tried too often leads to the sign-in page: %s", async (step) => {
    for (const method of ["beginPasskeySignIn", "signInWithPasskey"]) dashboard.fail(method, "rate_limited");
    const form = { next: "/live/webhooks", response: PASSKEY_RESPONSE };
    const { status, text, cookies } =
      step === "begin"
        ? await visitor.get("/sign-in/passkey?next=%2Flive%2Fwebhooks")
        : await visitor.post("/sign-in/passkey", form);
    expect(status).toBe(429);
    expect(text).toContain('<form method="post" action="/sign-in">');
    expect(text).toContain('name="next" value="/live/webhooks"');
    expect(cookies.join()).not.toContain("__Host-session");
  });
});

describe("a signed-in user", () => {
  beforeEach(async () => {
    await visitor.signIn();
    dashboard.state.calls.length = 0;
  });

  test("adds a passkey, finds it in the list, and removes it", async () => {
    expect((await visitor.get("/live/security")).text).toContain("You have no passkeys yet.");
    const asked = await visitor.get("/live/security/passkeys/new");
    expect(asked.text).toMatch(/<form [^>]*data-passkey="create"[^>]* hidden>/);
    expect(asked.text).toContain(NO_PASSKEYS);
    const added = await visitor.post("/live/security/passkeys", { name: "<Laptop>", response: PASSKEY_RESPONSE });
    expect(added.location).toBe("/live/security?done=passkey-added");
    const list = await visitor.get(added.location!);
    for (const text of ["The passkey was added.", "&lt;Laptop&gt;", "2026-11-20 08:00 UTC", "never"])
      expect(list.text).toContain(text);
    const { location } = await visitor.post("/live/security/passkeys/remove", { passkey_id: "pky_1" });
    expect((await visitor.get(location!)).text).toContain("The passkey was removed.");
    expect(dashboard.state.calls).toEqual(["removePasskey pky_1"]);
  });

  test("sees what was wrong, and can try again", async () => {
    const wrong = await visitor.post("/live/security/passkeys", { name: "Laptop", response: "{}" });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain("No passkey was added");
    expect(wrong.text).toContain('value="Laptop"');
    const details = [{ path: "name", message: "must be 1–100 characters" }];
    dashboard.fail("addPasskey", "invalid_request", { details });
    const nameless = await visitor.post("/live/security/passkeys", { response: PASSKEY_RESPONSE });
    expect(nameless.text).toContain("The name must be 1–100 characters.");
  });

  test("confirms their identity with a passkey: the session gets a new token, and the page leads back", async () => {
    dashboard.state.authenticatedAt = new Date(Date.now() - 16 * 60_000);
    const before = visitor.clone();
    const path = "/live/security/confirm/passkey";
    dashboard.state.passkeys = [{ id: "pky_1", name: "Laptop", createdAt: timestampFromDate(new Date()) }];
    expect((await visitor.get("/live/security/confirm?next=%2Flive%2Fwebhooks")).text).toContain(
      `href="${path}?next=%2Flive%2Fwebhooks"`,
    );
    const asked = await visitor.get(`${path}?next=%2Flive%2Fwebhooks`);
    expect(asked.text).toContain('name="next" value="/live/webhooks"');
    const wrong = await visitor.post(path, { next: "/live/webhooks", response: "{}" });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain("This is not of one of your passkeys, or came too late.");
    const { location } = await visitor.post(path, { next: "/live/webhooks", response: PASSKEY_RESPONSE });
    expect(location).toBe("/live/webhooks?done=confirmed");
    expect((await visitor.post("/live/webhooks/secret/show")).status).toBe(200);
    expect((await before.get("/live/webhooks")).status).toBe(303);
  });
});
