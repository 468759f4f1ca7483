import { beforeEach, describe, expect, test } from "@jest/globals";
import { dashboardPerTest, hiddenField, type Visitor } from "../testing/dashboard.ts";
import { PASSKEY_RESPONSE } from "../testing/fake-passkeys.ts";
import { CODE, EMAIL, PASSWORD } from "../testing/fake-sessions.ts";

const { dashboard } = dashboardPerTest({ signsIn: false });
let visitor: Visitor;
beforeEach(() => {
  visitor = dashboard.visitor();
});

/** Each begins a sign-in in a new tab of the browser, and returns what finishes it. */
const ways = {
  async "with a passkey"() {
    const ceremony = hiddenField(await visitor.get("/sign-in/passkey"), "ceremony");
    return () => visitor.post("/sign-in/passkey", { ceremony, response: PASSKEY_RESPONSE });
  },
  async "with a code"() {
    dashboard.state.hasApp = true;
    const { location } = await visitor.post("/sign-in", { email: EMAIL, password: PASSWORD });
    const step = hiddenField(await visitor.get(location!), "step");
    return () => visitor.post("/sign-in/code", { step, code: CODE });
  },
  async "with an identity provider"() {
    const { location } = await visitor.get("/sign-in/sso/acme");
    const state = new URL(location!).searchParams.get("state");
    return () => visitor.get(`/sign-in/sso/acme/callback?code=c&state=${state}`);
  },
};

describe.each(Object.entries(ways))("sign-ins of two tabs %s", (_name, begin) => {
  test.each([
    ["the first", [0, 1]],
    ["the second", [1, 0]],
  ])("both succeed, if %s is finished first, and no other browser can finish them", async (_which, order) => {
    const finish = [await begin(), await begin()];
    const [here, elsewhere] = [visitor, dashboard.visitor()];
    for (const tab of order) {
      visitor = elsewhere;
      expect((await finish[tab]!()).status).toBe(401);
      visitor = here;
      const { status, cookies } = await finish[tab]!();
      expect([status, cookies.join()]).toEqual([303, expect.stringContaining("__Host-session=")]);
    }
  });

  test("that are never finished do not pile up", async () => {
    for (let tab = 0; tab < 12; tab++) await begin();
    expect(visitor.cookies()).toHaveLength(10);
    const finish = await begin();
    expect((await finish()).status).toBe(303);
  });
});
