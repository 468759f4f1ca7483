import { beforeEach, describe, expect, test } from "@jest/globals";
import { dashboardPerTest, hiddenField } from "../testing/dashboard.ts";
import { CODE, EMAIL, PASSWORD, RECOVERY_CODES } from "../testing/fake-sessions.ts";

const { dashboard, visitor } = dashboardPerTest({ signsIn: false });

describe("a sign-in with an app", () => {
  beforeEach(() => {
    dashboard.state.hasApp = true;
  });

  test("starts its session only with the code, and leads to the requested page", async () => {
    const first = await visitor.post("/sign-in", { email: EMAIL, password: PASSWORD, next: "/live/webhooks" });
    expect(first.location).toMatch(/^\/sign-in\/code\?step=[\w-]{22}&next=%2Flive%2Fwebhooks$/);
    expect(first.cookies).toHaveLength(1);
    expect(first.cookies[0]).toMatch(/^__Host-second-step-[\w-]{22}=[\w-]+; .*HttpOnly; Secure; SameSite=Lax$/);
    expect((await visitor.get("/live/webhooks")).status).toBe(303);
    const asked = await visitor.get(first.location!);
    expect(asked.text).toContain('name="next" value="/live/webhooks"');
    const form = { step: hiddenField(asked, "step"), code: CODE, next: "/live/webhooks" };
    const second = await visitor.post("/sign-in/code", form);
    expect(second.location).toBe("/live/webhooks");
    expect((await visitor.get("/live/webhooks")).status).toBe(200);
    // The step is forgotten.
    expect(second.cookies.some((cookie) => /^__Host-second-step-[\w-]{22}=;/.test(cookie))).toBe(true);
  });

  test("is refused with a wrong code, and without a first step", async () => {
    expect((await visitor.post("/sign-in/code", { code: CODE })).status).toBe(401);
    await visitor.signIn();
    const wrong = await visitor.post("/sign-in/code", { code: "654321" });
    expect(wrong.status).toBe(401);
    expect(wrong.text).toContain("The code is wrong");
    expect(wrong.text).not.toContain("654321");
  });
});

describe("an app", () => {
  beforeEach(() => visitor.signIn());

  test("is set up with its key and a code, after which recovery codes are shown once", async () => {
    expect((await visitor.get("/live/security")).text).toContain("Set up an app");
    const shown = await visitor.get("/live/security/two-factor");
    expect(shown.text).toContain("GEZD GNBV GY3T QOJQ");
    expect(shown.text).toContain('<svg class="qr"');
    // Its length would give away what it holds.
    expect(shown.headers.get("content-encoding")).toBeNull();
    const wrong = await visitor.post("/live/security/two-factor", { code: "654321" });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain("This is not what the app shows now.");
    const { text } = await visitor.post("/live/security/two-factor", { code: CODE });
    for (const code of RECOVERY_CODES) expect(text).toContain(code);
    const after = (await visitor.get("/live/security")).text;
    expect(after).toContain("9 of 10 recovery codes left");
    for (const code of RECOVERY_CODES) expect(after).not.toContain(code);
  });

  test("can be turned off", async () => {
    dashboard.state.hasApp = true;
    const { location } = await visitor.post("/live/security/two-factor/disable");
    expect((await visitor.get(location!)).text).toContain("Two-factor sign-in is off.");
  });
});
