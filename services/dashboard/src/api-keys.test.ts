import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { startDashboard, type TestDashboard, type Visitor } from "./testing/dashboard.ts";
import { KEY_VALUE, keyOf } from "./testing/fake-services.ts";

const scopes = ["entities:read", "verifications:write"];
let dashboard: TestDashboard;
let visitor: Visitor;

beforeEach(async () => {
  dashboard = await startDashboard();
  visitor = dashboard.visitor();
  await visitor.signIn();
  dashboard.state.calls.length = 0;
});

afterEach(() => dashboard.close());

async function newKeyForm(changes: Record<string, string | string[]> = {}) {
  return { form_token: await visitor.formToken("/test/api-keys"), name: "Billing", scopes, ...changes };
}

describe("a new key", () => {
  test("is asked for on behalf of the user, in the environment of the page", async () => {
    const form = { ...(await newKeyForm()), form_token: await visitor.formToken("/live/api-keys") };
    await visitor.post("/live/api-keys", form);
    const [method, json] = dashboard.state.calls[0]!.split(/ (.*)/s);
    expect(method).toBe("createApiKey");
    expect(JSON.parse(json!)).toEqual({
      caller: {
        tenant: { organizationId: "org_1", environment: "ENVIRONMENT_LIVE" },
        actor: "usr_1",
        requestId: expect.stringMatching(/^req_/),
      },
      name: "Billing",
      scopes,
    });
  });

  test("is shown on the page that answers, with a first call, and on no other", async () => {
    const created = await visitor.post("/test/api-keys", await newKeyForm());
    expect(created.status).toBe(200);
    expect(created.text).toContain(`<code>${KEY_VALUE}</code>`);
    expect(created.text).toContain("curl https://api.acme.example/v1/verify");
    const list = await visitor.get("/test/api-keys");
    expect(list.text).toContain("svc_test_Ab3x…yz12");
    expect(list.text).not.toContain(KEY_VALUE);
  });

  test("is neither shown nor made again when its page is reloaded", async () => {
    const form = await newKeyForm();
    await visitor.post("/test/api-keys", form);
    for (const _reload of [1, 2]) {
      const again = await visitor.post("/test/api-keys", form);
      expect(again.status).toBe(409);
      expect(again.text).not.toContain(KEY_VALUE);
    }
    expect(dashboard.state.calls).toHaveLength(1);
  });

  test("is made once by a double click, whose second answer, the one the browser shows, has the value", async () => {
    const form = await newKeyForm();
    const open = Promise.withResolvers<void>();
    dashboard.state.gate = open.promise;
    const [first, second] = [visitor.clone(), visitor.clone()].map((click) => click.post("/test/api-keys", form));
    open.resolve();
    for (const answer of [await first!, await second!]) expect(answer.text).toContain(KEY_VALUE);
    expect(dashboard.state.calls).toHaveLength(1);
  });

  test.each([
    ["without a token", ""],
    ["with another token", "AAAAAAAAAAAAAAAAAAAAAA"],
  ])("is not made by a form %s", async (_name, token) => {
    const { status } = await visitor.post("/test/api-keys", await newKeyForm({ form_token: token }));
    expect(status).toBe(409);
    expect(dashboard.state.calls).toEqual([]);
  });

  test("with a wrong name is asked for again, with what was typed, and the same form then works", async () => {
    const details = [{ path: "name", message: "must be 1–100 characters" }];
    dashboard.state.failures.set("createApiKey", new ServiceError("invalid_request", { details }));
    const form = await newKeyForm({ name: '"><script>' });
    const refused = await visitor.post("/test/api-keys", form);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("The name must be 1–100 characters.");
    expect(refused.text).toContain('value="&quot;&gt;&lt;script&gt;"');
    dashboard.state.failures.clear();
    expect((await visitor.post("/test/api-keys", { ...form, name: "Billing" })).text).toContain(KEY_VALUE);
  });

  test("without any scope is refused, since none would mean all", async () => {
    const { status, text } = await visitor.post("/test/api-keys", await newKeyForm({ scopes: [] }));
    expect(status).toBe(400);
    expect(text).toContain("Pick at least one scope.");
    expect(dashboard.state.calls).toEqual([]);
  });

  test.each(["limit_exceeded", "forbidden"] as const)("that is refused with %s says why", async (code) => {
    dashboard.state.failures.set("createApiKey", new ServiceError(code, { message: "At most 20 active keys." }));
    const { status, text } = await visitor.post("/test/api-keys", await newKeyForm());
    expect(status).toBe(403);
    expect(text).toContain("At most 20 active keys.");
  });
});

describe("the list", () => {
  test.each([
    ["active", {}, true],
    ["expired", { expiresAt: timestampFromDate(new Date("2020-01-01T00:00:00Z")) }, true],
    ["revoked", { revokedAt: timestampFromDate(new Date("2020-01-01T00:00:00Z")) }, false],
  ])("shows an %s key as that", async (state, changes, canRevoke) => {
    dashboard.state.keys = [keyOf(changes)];
    const { text } = await visitor.get("/test/api-keys");
    expect(text).toContain(`<span class="state ${state}">${state}</span>`);
    expect(text.includes("/test/api-keys/key_1/revoke")).toBe(canRevoke);
  });

  test("shows names as they are, whatever is in them", async () => {
    dashboard.state.keys = [keyOf({ name: "<img src=x onerror=alert(1)>" })];
    const { text } = await visitor.get("/test/api-keys");
    expect(text).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(text).not.toContain("<img");
  });
});

describe("revoking", () => {
  test("asks first, and then does it once and for all", async () => {
    dashboard.state.keys = [keyOf()];
    const asked = await visitor.get("/test/api-keys/key_1/revoke");
    expect(asked.text).toContain("Revoke Billing?");
    expect(dashboard.state.calls).toEqual([]);
    expect((await visitor.post("/test/api-keys/key_1/revoke")).location).toBe("/test/api-keys?done=revoked");
    expect(dashboard.state.calls).toHaveLength(1);
    expect((await visitor.get("/test/api-keys/key_1/revoke")).text).toContain("This key was revoked");
  });

  test.each(["get", "post"] as const)("a key that is not theirs: %s is not found", async (method) => {
    expect((await visitor[method]("/test/api-keys/key_2/revoke")).status).toBe(404);
  });
});
