import { describe, expect, test } from "@jest/globals";
import { dashboardPerTest, startDashboard } from "../testing/dashboard.ts";
import { LINK_TOKEN, SIGN_UP_PASSWORD } from "../testing/fake-entry.ts";
import { EMAIL } from "../testing/fake-sessions.ts";

const { dashboard } = dashboardPerTest({ signsIn: false });

const PASSWORD = "never shown again";
const form = { organization_name: "Acme <b>", email: "new@acme.example", password: PASSWORD };
const refuse = (method: string, path: string) =>
  dashboard.fail(method, "invalid_request", { details: [{ path, message: "is wrong" }] });

test.each([
  ["signIn", "/sign-in", form],
  ["finishSignIn", "/sign-in/code", { code: "123456" }],
  ["signInWithPasskey", "/sign-in/passkey", {}],
  ["signUp", "/sign-up", form],
  ["resendSignUp", "/sign-up/resend", form],
  ["requestPasswordReset", "/forgot-password", form],
  ["resetPassword", "/reset-password", { token: LINK_TOKEN, password: PASSWORD }],
] as const)("%s that comes too often says for how long to wait, also to programs", async (method, path, sent) => {
  const message = "There were too many attempts. Try again later.";
  dashboard.fail(method, "rate_limited", { message, retryAfterSeconds: 90 });
  const { status, headers, text } = await dashboard.visitor().post(path, sent);
  expect([status, headers.get("retry-after")]).toEqual([429, "90"]);
  expect(text).toContain("There were too many attempts. Try again in 90 seconds.");
});

describe("a sign-up", () => {
  test("is passed on with its client address, and the page says what to do next", async () => {
    const { status, text } = await dashboard.visitor().post("/sign-up", form);
    expect(status).toBe(200);
    expect(text).toContain("We have sent an email to <strong>new@acme.example</strong>");
    const call = { organizationName: "Acme <b>", email: "new@acme.example", clientAddress: "127.0.0.1" };
    expect(dashboard.callsOf("signUp")).toEqual([{ ...call, password: PASSWORD }]);
  });

  test.each(["organization_name", "email", "password"])(
    "that is refused at %s says so there, keeps what was typed, and never the password",
    async (path) => {
      refuse("signUp", path);
      const { status, text } = await dashboard.visitor().post("/sign-up", form);
      expect(status).toBe(400);
      expect(text).toMatch(new RegExp(`id="${path}-problem">[\\w ]+ is wrong\\.`));
      expect(text).toContain('value="Acme &lt;b&gt;"');
      expect(text).toContain('value="new@acme.example"');
      expect(text).not.toContain(PASSWORD);
    },
  );

  test("is neither offered nor shown if it is closed", async () => {
    dashboard.state.signUpOpen = false;
    const visitor = dashboard.visitor();
    expect((await visitor.get("/sign-in")).text).not.toContain("/sign-up");
    expect((await visitor.get("/sign-up")).status).toBe(404);
    dashboard.fail("signUp", "not_found", { message: "Nobody can sign up here." });
    expect((await visitor.post("/sign-up", form)).status).toBe(404);
  });

  test("can be asked to send its email again", async () => {
    const { status, text } = await dashboard.visitor().post("/sign-up/resend", { email: EMAIL });
    expect(status).toBe(200);
    expect(text).toContain("we have sent another email");
    expect(dashboard.callsOf("resendSignUp")).toEqual([{ email: EMAIL, clientAddress: "127.0.0.1" }]);
  });

  test("that is not confirmed yet refuses a sign-in, and the page says how to continue", async () => {
    dashboard.state.unconfirmed = true;
    const { status, text, cookies } = await dashboard.visitor().signIn();
    expect([status, cookies]).toEqual([403, []]);
    expect(text).toContain("this email address is not confirmed");
    expect(text).toContain('action="/sign-up/resend"');
  });
});

describe("the link of a sign-up", () => {
  test("shows what it confirms, and has no effect when opened", async () => {
    const { status, text } = await dashboard.visitor().get(`/sign-up/confirm?token=${LINK_TOKEN}`);
    expect(status).toBe(200);
    expect(text).toContain("<strong>Acme &amp; Sons</strong>");
    expect(text).toContain(`<strong>${EMAIL}</strong>`);
    expect(dashboard.state.calls).toEqual([]);
  });

  test("starts a session with the password of the sign-up", async () => {
    const visitor = dashboard.visitor();
    const answer = await visitor.post("/sign-up/confirm", { token: LINK_TOKEN, password: SIGN_UP_PASSWORD });
    expect([answer.status, answer.location]).toEqual([303, "/"]);
    expect(answer.cookies[0]).toMatch(/^__Host-session=/);
    expect((await visitor.get("/test/api-keys")).status).toBe(200);
  });

  test("starts no session with another password, and can be tried again", async () => {
    const answer = await dashboard.visitor().post("/sign-up/confirm", { token: LINK_TOKEN, password: PASSWORD });
    expect([answer.status, answer.cookies]).toEqual([401, []]);
    expect(answer.text).toContain("This is not it.");
    expect(answer.text).toContain(LINK_TOKEN);
    expect(answer.text).not.toContain(PASSWORD);
  });

  test("says what to do if it no longer works", async () => {
    const visitor = dashboard.visitor();
    for (const path of ["/sign-up/confirm", "/sign-up/confirm?token=x", "/sign-up/confirm?token=a&token=b"]) {
      const { status, text } = await visitor.get(path);
      expect(status).toBe(404);
      expect(text).toContain("This link no longer works");
    }
    const answer = await visitor.post("/sign-up/confirm", { token: "x", password: SIGN_UP_PASSWORD });
    expect(answer.status).toBe(404);
  });
});

describe("a forgotten password", () => {
  test("is answered with the same page for every address", async () => {
    const [one, other] = await Promise.all(
      [EMAIL, "nobody@acme.example"].map((email) => dashboard.visitor().post("/forgot-password", { email })),
    );
    expect(one!.status).toBe(200);
    expect(one!.text.replaceAll(EMAIL, "")).toBe(other!.text.replaceAll("nobody@acme.example", ""));
  });

  test("is replaced through the link in the email, without a sign-in", async () => {
    const visitor = dashboard.visitor();
    const { text } = await visitor.get(`/reset-password?token=${LINK_TOKEN}`);
    expect(text).toContain(`For <strong>${EMAIL}</strong>`);
    const answer = await visitor.post("/reset-password", { token: LINK_TOKEN, password: PASSWORD });
    expect([answer.status, answer.location, answer.cookies]).toEqual([303, "/sign-in?done=password", []]);
    expect((await visitor.get("/sign-in?done=password")).text).toContain("Your password was changed.");
  });

  test("is replaced without removing passkeys, unless the user ticks that they shall be removed", async () => {
    const visitor = dashboard.visitor();
    const path = `/reset-password?token=${LINK_TOKEN}`;
    expect((await visitor.get(path)).text).not.toContain('name="passkeys"');
    dashboard.state.passkeys = [{ id: "pky_1", name: "Laptop" }];
    const { text } = await visitor.get(path);
    expect(text).toContain('<input type="checkbox" name="passkeys" value="remove">');
    expect(text).toContain("A new password keeps passkeys.");
    const form = { token: LINK_TOKEN, password: PASSWORD };
    await visitor.post("/reset-password", form);
    await visitor.post("/reset-password", { ...form, passkeys: "remove" });
    expect(dashboard.callsOf("resetPassword").map(({ removePasskeys = false }) => removePasskeys)).toEqual([
      false,
      true,
    ]);
  });

  test("can be replaced again after a refused new password", async () => {
    refuse("resetPassword", "password");
    const { status, text } = await dashboard
      .visitor()
      .post("/reset-password", { token: LINK_TOKEN, password: PASSWORD });
    expect(status).toBe(400);
    expect(text).toContain("The new password is wrong.");
    expect(text).toContain(LINK_TOKEN);
    expect(text).not.toContain(PASSWORD);
  });

  test("gets a page that says how to get another link if the link no longer works", async () => {
    const visitor = dashboard.visitor();
    const opened = await visitor.get("/reset-password?token=x");
    const used = await visitor.post("/reset-password", { token: "x", password: PASSWORD });
    for (const { status, text } of [opened, used]) {
      expect(status).toBe(404);
      expect(text).toContain('href="/forgot-password"');
    }
  });

  test("is not offered if no emails are sent", async () => {
    dashboard.state.mailSent = false;
    const visitor = dashboard.visitor();
    expect((await visitor.get("/sign-in")).text).not.toContain("/forgot-password");
    expect((await visitor.get("/forgot-password")).status).toBe(404);
  });
});

describe("the mailbox", () => {
  test("exists only in a local run", async () => {
    dashboard.state.mails = ["a mail"];
    const { status, text } = await dashboard.visitor().get("/mailbox");
    expect(status).toBe(404);
    expect(text).not.toContain("a mail");
  });

  test("shows emails as text, in which only links to the dashboard can be followed", async () => {
    const local = await startDashboard({ localMailbox: true });
    const visitor = local.visitor();
    expect((await visitor.get("/mailbox")).text).toContain("No emails yet.");
    const own = "http://localhost:8081/reset-password?token=x";
    local.state.mails = [`<b>Open</b>\n\nStop: ${own}\nhttps://evil.example/\n\nhttp://localhost:8081.evil.example/`];
    const { status, text } = await visitor.get("/mailbox");
    expect(status).toBe(200);
    expect(text).toContain("&lt;b&gt;Open&lt;/b&gt;");
    expect([...text.matchAll(/href="(http[^"]+)"/g)].map(([, href]) => href)).toEqual([own]);
    await local.close();
  });
});
