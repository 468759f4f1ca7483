import { describe, expect, test } from "@jest/globals";
import { dashboardPerTest, type Page, type Visitor } from "../testing/dashboard.ts";
import { DELIVERY_ID, deliveryOf } from "../testing/fake-dispatcher.ts";
import { ENTITY_ID } from "../testing/fake-entity.ts";
import { KEY_VALUE, keyOf, SECRET } from "../testing/fake-services.ts";

const PATH = "/test/api-keys";
const { dashboard, visitor } = dashboardPerTest();

/** Opens the page in a new tab of the browser and fills in its form. */
const openTab = async (name: string) => ({
  form_token: await visitor.formToken(PATH),
  name,
  scopes: ["entities:read"],
  expires: "never",
});

/** Forms with their fields, and the method that acts on them. The page of a form is its address, if it is not another one. */
const forms: readonly { form: string; page?: string; method: string; fields: Record<string, string> }[] = [
  { form: "api-keys", method: "createApiKey", fields: { name: "Billing", scopes: "entities:read", expires: "never" } },
  { form: "api-keys/key_1/roll", method: "rollApiKey", fields: { overlap: "86400", expires: "never" } },
  {
    ...{ form: "verifications", page: "verifications/new", method: "verify" },
    fields: { uei: "SANDBXACTVE1", checks: "sam_registration", mode: "realtime" },
  },
  {
    ...{ form: `vendors/${ENTITY_ID}/verify`, page: `vendors/${ENTITY_ID}`, method: "verify" },
    fields: { checks: "sam_registration" },
  },
  {
    ...{ form: `vendors/${ENTITY_ID}/monitor`, page: `vendors/${ENTITY_ID}`, method: "createMonitor" },
    fields: { checks: "sam_registration", frequency: "daily" },
  },
  { form: "webhooks/test", method: "sendTestEvent", fields: { url: "https://acme.example/hook" } },
  { form: "webhooks/secret", page: "webhooks", method: "setWebhookSecret", fields: { value: SECRET } },
  { form: "webhooks/secret/rotate", page: "webhooks", method: "rotateWebhookSecret", fields: { previous: "keep" } },
  {
    ...{ form: `webhooks/deliveries/${DELIVERY_ID}/replay`, page: `webhooks/deliveries/${DELIVERY_ID}` },
    ...{ method: "replayDelivery", fields: {} },
  },
];

test.each(forms)("the form $form takes effect once by a double click, and not when it is sent again", async (each) => {
  const { form, page = form, method, fields } = each;
  dashboard.state.keys = [keyOf()];
  dashboard.state.entities = [{ id: ENTITY_ID, legalName: "Acme", identifiers: { uei: "UE9QJD4KK1L6" } }];
  dashboard.state.deliveries = [deliveryOf()];
  const filled = { form_token: await visitor.formToken(`/test/${page}`), ...fields };
  const send = (click: Visitor) => click.post(`/test/${form}`, filled);
  const clicks = await Promise.all([visitor.clone(), visitor.clone()].map(send));
  const seen = ({ status, location, text }: Page) => [status < 400, location, text.includes(KEY_VALUE)];
  expect(seen(clicks[0]!)).toEqual(seen(clicks[1]!));
  expect(clicks[0]!.status).toBeLessThan(400);
  await send(visitor);
  const again = await send(visitor);
  expect(again.status === 409 || again.location?.endsWith("?done=sent_before")).toBe(true);
  expect(again.text).not.toContain(KEY_VALUE);
  expect(dashboard.callsOf(method)).toHaveLength(1);
});

describe("the forms of two tabs of one browser", () => {
  test("both take effect, and neither a second time", async () => {
    const [left, right] = [await openTab("Left"), await openTab("Right")];
    for (const form of [left, right]) expect((await visitor.post(PATH, form)).text).toContain(KEY_VALUE);
    expect(dashboard.state.calls).toHaveLength(2);
    for (const form of [left, right]) expect((await visitor.post(PATH, form)).status).toBe(409);
    expect(dashboard.state.calls).toHaveLength(2);
  });

  test("both take effect if they are sent at the same moment, and neither a second time", async () => {
    const [left, right] = [await openTab("Left"), await openTab("Right")];
    const open = Promise.withResolvers<void>();
    dashboard.state.gate = open.promise;
    const answers = [visitor.post(PATH, left), visitor.post(PATH, right)];
    open.resolve();
    for (const answer of answers) expect((await answer).text).toContain(KEY_VALUE);
    for (const form of [left, right]) expect((await visitor.post(PATH, form)).status).toBe(409);
  });

  test("are independent also after one was refused, which is answered with what is true", async () => {
    const [left, right] = [await openTab("Left"), await openTab("Right")];
    dashboard.fail("createApiKey", "limit_exceeded", { message: "At most 20 keys." });
    const refused = await visitor.post(PATH, left);
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("At most 20 keys.")]);
    expect(refused.text).not.toContain("already sent");
    dashboard.state.failures.clear();
    expect((await visitor.post(PATH, right)).text).toContain(KEY_VALUE);
    expect((await visitor.post(PATH, left)).text).toContain(KEY_VALUE);
  });
});

test("a form that comes back after an unknown outcome is the same submission, unless it was corrected", async () => {
  dashboard.state.entities = [{ id: ENTITY_ID, legalName: "Acme", identifiers: { uei: "UE9QJD4KK1L6" } }];
  const path = `/test/vendors/${ENTITY_ID}`;
  const first = { form_token: await visitor.formToken(path), frequency: "daily" };
  const send = async (webhook_url: string) => {
    const form = { ...first, checks: ["sam_registration"], webhook_url };
    return (await visitor.post(`${path}/monitor`, form)).text;
  };
  dashboard.fail("createMonitor ", "service_unavailable");
  const [, again] = /name="form_token" value="([\w-]+)"/.exec(await send("https://acme.example/1"))!;
  expect(again).toBe(first.form_token);
  await send("https://acme.example/1");
  await send("https://acme.example/2");
  const [one, same, corrected] = dashboard.callsOf("createMonitor").map(({ idempotency }) => idempotency);
  expect(one.key).toMatch(/^[\w-]{43}$/);
  expect(same).toEqual(one);
  expect([corrected.key === one.key, corrected.bodyHash === one.bodyHash]).toEqual([false, false]);
});

test("a form of somebody who used this browser before has no effect, and the page does not say that it had one", async () => {
  const form = await openTab("Billing");
  dashboard.state.userId = "usr_2";
  const { status, text } = await visitor.post(PATH, form);
  expect([status, text]).toEqual([
    403,
    expect.stringContaining("Nothing was changed. Somebody else may have signed in"),
  ]);
  expect(dashboard.state.calls).toEqual([]);
});

test("a browser remembers only the last forms that it sent", async () => {
  for (let sent = 0; sent < 50; sent++) await visitor.post(PATH, await openTab(`Key ${sent}`));
  const marks = visitor.cookies().filter((name) => name.startsWith("__Host-sent-"));
  expect(marks).toHaveLength(40);
});
