import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { KEY_VALUE, keyOf } from "../testing/fake-services.ts";

const scopes = ["entities:read", "verifications:write"];
const DAY_MS = 24 * 60 * 60_000;
const { dashboard, visitor } = dashboardPerTest();

async function newKeyForm(changes: Record<string, string | string[]> = {}) {
  return {
    form_token: await visitor.formToken("/test/api-keys"),
    name: "Billing",
    scopes,
    expires: "never",
    ...changes,
  };
}

describe("a new key", () => {
  test("is created on behalf of the user, in the environment of the page", async () => {
    const form = { ...(await newKeyForm()), form_token: await visitor.formToken("/live/api-keys") };
    await visitor.post("/live/api-keys", form);
    expect(dashboard.callsOf("createApiKey")[0]).toEqual({
      caller: {
        tenant: { organizationId: "org_1", environment: "ENVIRONMENT_LIVE" },
        actor: "usr_1",
        requestId: expect.stringMatching(/^req_/),
        clientAddress: "127.0.0.1",
      },
      sessionToken: expect.stringMatching(/^token-/),
      name: "Billing",
      scopes,
      submission: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  test("is shown only on the answering page, with a first call", async () => {
    const created = await visitor.post("/test/api-keys", await newKeyForm());
    expect(created.status).toBe(200);
    expect(created.text).toContain(`<code>${KEY_VALUE}</code>`);
    expect(created.text).toContain("curl https://api.acme.example/v1/verify");
    expect(created.text).toContain('href="https://api.acme.example/docs"');
    const list = await visitor.get("/test/api-keys");
    expect(list.text).toContain("svc_test_Ab3x…yz12");
    expect(list.text).not.toContain(KEY_VALUE);
  });

  test.each([
    ["without a token", ""],
    ["with another token", "AAAAAAAAAAAAAAAAAAAAAA"],
  ])("is not created by a form %s", async (_name, token) => {
    const { status } = await visitor.post("/test/api-keys", await newKeyForm({ form_token: token }));
    expect(status).toBe(403);
    expect(dashboard.state.calls).toEqual([]);
  });

  test("with an invalid name is refused with the input kept, and the same form then works", async () => {
    const details = [{ path: "name", message: "must be 1–100 characters" }];
    dashboard.fail("createApiKey", "invalid_request", { details });
    const form = await newKeyForm({ name: '"><script>' });
    const refused = await visitor.post("/test/api-keys", form);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("The name must be 1–100 characters.");
    expect(refused.text).toContain('value="&quot;&gt;&lt;script&gt;"');
    dashboard.state.failures.clear();
    expect((await visitor.post("/test/api-keys", { ...form, name: "Billing" })).text).toContain(KEY_VALUE);
  });

  test("without any scope is refused, because none would mean all", async () => {
    const { status, text } = await visitor.post("/test/api-keys", await newKeyForm({ scopes: [] }));
    expect(status).toBe(400);
    expect(text).toContain("Choose at least one scope.");
    expect(dashboard.state.calls).toEqual([]);
  });

  test("expires when the form says", async () => {
    const earliest = Date.now() + 30 * DAY_MS;
    await visitor.post("/test/api-keys", await newKeyForm({ expires: "30" }));
    const [{ expiresAt }] = dashboard.callsOf("createApiKey");
    expect(Date.parse(expiresAt)).toBeGreaterThanOrEqual(earliest);
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.now() + 30 * DAY_MS);
  });

  test("with an unknown lifetime is refused", async () => {
    const { status, text } = await visitor.post("/test/api-keys", await newKeyForm({ expires: "31" }));
    expect(status).toBe(400);
    expect(text).toContain("Choose when the key expires.");
    expect(dashboard.state.calls).toEqual([]);
  });

  test("whose form another instance accepted is not created again, and the next form works", async () => {
    dashboard.fail("createApiKey", "idempotency_conflict");
    const form = await newKeyForm();
    const refused = await visitor.post("/test/api-keys", form);
    expect(refused.status).toBe(409);
    expect(refused.text).toContain("This form was already sent");
    dashboard.state.failures.clear();
    const token = await visitor.formToken("/test/api-keys");
    expect(token).not.toBe(form.form_token);
    expect((await visitor.post("/test/api-keys", { ...form, form_token: token })).text).toContain(KEY_VALUE);
  });

  test.each(["limit_exceeded", "forbidden"] as const)("that is refused with %s says why", async (code) => {
    dashboard.fail("createApiKey", code, { message: "At most 20 active keys." });
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
  ])("shows the state of an %s key", async (state, changes, canRevoke) => {
    dashboard.state.keys = [keyOf(changes)];
    const { text } = await visitor.get("/test/api-keys");
    expect(text).toContain(`<span class="state ${state}">${state}</span>`);
    expect(text.includes("/test/api-keys/key_1/revoke")).toBe(canRevoke);
  });

  test("shows who created a key, when it was last used and when it ends", async () => {
    const at = (text: string) => timestampFromDate(new Date(text));
    const ends = { lastUsedAt: at("2026-11-21T07:05:00Z"), expiresAt: at("2099-01-02T03:04:00Z") };
    dashboard.state.keys = [
      keyOf({ createdByEmail: "grace@acme.example", ...ends }),
      keyOf({ createdBy: "operator" }),
      keyOf({ createdBy: "usr_gone" }),
    ];
    const { text } = await visitor.get("/test/api-keys");
    const expected = ["by grace@acme.example", "2026-11-21 07:05:00 UTC", "2099-01-02 03:04 UTC"];
    for (const each of [...expected, "by the operator", "by usr_gone"]) expect(text).toContain(each);
    expect(text).toContain('data-label="Last used">never<');
    expect(text).toContain('data-label="Expires">never<');
  });

  test("shows a rolled key with its end, and offers to revoke it but not to roll it", async () => {
    const expiresAt = timestampFromDate(new Date("2099-01-02T03:04:00Z"));
    dashboard.state.keys = [keyOf({ rolledAt: timestampFromDate(new Date()), rolledTo: "key_2", expiresAt })];
    const { text } = await visitor.get("/test/api-keys");
    expect(text).toContain('<span class="state rolled">rolled</span>');
    expect(text).toContain('ends at <time datetime="2099-01-02T03:04:00.000Z">');
    expect(text).toContain("/test/api-keys/key_1/revoke");
    expect(text).not.toContain("/test/api-keys/key_1/roll");
  });

  test("shows names as text, whatever they contain", async () => {
    dashboard.state.keys = [keyOf({ name: "<img src=x onerror=alert(1)>" })];
    const { text } = await visitor.get("/test/api-keys");
    expect(text).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(text).not.toContain("<img");
  });
});

describe("rolling", () => {
  const rollForm = async (changes: Record<string, string> = {}) => ({
    form_token: await visitor.formToken("/test/api-keys/key_1/roll"),
    overlap: "86400",
    expires: "never",
    ...changes,
  });

  beforeEach(() => {
    dashboard.state.keys = [keyOf()];
  });

  test("asks for the overlap, and shows the new value once, with the end of the previous key", async () => {
    const asked = await visitor.get("/test/api-keys/key_1/roll");
    expect(asked.text).toContain("Roll the key “Billing”");
    expect(asked.text).toContain('value="86400" checked');
    const rolled = await visitor.post("/test/api-keys/key_1/roll", await rollForm({ overlap: "3600", expires: "90" }));
    expect(rolled.text).toContain(`<code>${KEY_VALUE}</code>`);
    expect(rolled.text).toContain("works until");
    expect(dashboard.callsOf("rollApiKey")[0]).toMatchObject({
      keyId: "key_1",
      overlapSeconds: 3600,
      expiresAt: expect.any(String),
    });
    expect((await visitor.get("/test/api-keys")).text).not.toContain(KEY_VALUE);
  });

  test("without overlap says that the previous key is refused", async () => {
    const { text } = await visitor.post("/test/api-keys/key_1/roll", await rollForm({ overlap: "0" }));
    expect(text).toContain("stops working everywhere within 5 seconds.");
  });

  test("preselects the lifetime of the previous key", async () => {
    const day = (text: string) => timestampFromDate(new Date(text));
    dashboard.state.keys = [keyOf({ createdAt: day("2098-01-01"), expiresAt: day("2098-04-01") })];
    expect((await visitor.get("/test/api-keys/key_1/roll")).text).toContain('value="90" selected');
  });

  test.each([
    ["an overlap that is no choice", { overlap: "1" }],
    ["no overlap", { overlap: "" }],
    ["an end that is no choice", { expires: "soon" }],
  ])("is refused with %s, and nothing is changed", async (_name, changes) => {
    const { status } = await visitor.post("/test/api-keys/key_1/roll", await rollForm(changes));
    expect(status).toBe(400);
    expect(dashboard.state.calls).toEqual([]);
  });

  test("that is refused says why", async () => {
    const message = "At most 20 rolled keys of an environment work at a time.";
    dashboard.fail("rollApiKey", "limit_exceeded", { message });
    const { status, text } = await visitor.post("/test/api-keys/key_1/roll", await rollForm());
    expect(status).toBe(403);
    expect(text).toContain(message);
  });

  test("is not offered for a key that has ended", async () => {
    dashboard.state.keys = [keyOf({ revokedAt: timestampFromDate(new Date()) })];
    expect((await visitor.get("/test/api-keys/key_1/roll")).text).toContain("it can’t be rolled");
  });
});

test("with a password entered long ago the list offers to confirm it instead of a form, and keys can still be revoked", async () => {
  dashboard.state.keys = [keyOf()];
  dashboard.state.authenticatedAt = new Date(Date.now() - 16 * 60_000);
  const { text } = await visitor.get("/test/api-keys");
  expect(text).toContain("/test/security/confirm?next=%2Ftest%2Fapi-keys");
  expect(text).not.toContain("form_token");
  expect((await visitor.post("/test/api-keys/key_1/revoke")).location).toBe("/test/api-keys?done=revoked");
});

describe("revoking", () => {
  test("asks for confirmation, and then revokes the key", async () => {
    dashboard.state.keys = [keyOf()];
    const asked = await visitor.get("/test/api-keys/key_1/revoke");
    expect(asked.text).toContain("Revoke the key “Billing”?");
    expect(dashboard.state.calls).toEqual([]);
    expect((await visitor.post("/test/api-keys/key_1/revoke")).location).toBe("/test/api-keys?done=revoked");
    expect(dashboard.state.calls).toHaveLength(1);
    expect((await visitor.get("/test/api-keys/key_1/revoke")).text).toContain("This API key was revoked");
  });
});
