import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { DELIVERY_ID, deliveryOf } from "../testing/fake-dispatcher.ts";
import { SECRET } from "../testing/fake-services.ts";
import { breakable } from "../ui/parts.ts";

const { dashboard, visitor } = dashboardPerTest();

/** The calls of one method, without on whose behalf they were made. What needs the value or changes it has the session. */
function calls(method: string): unknown[] {
  return dashboard.callsOf(method).map(({ caller: _caller, sessionToken, ...rest }) => {
    if (!rest.withoutValue) expect(dashboard.state.sessions).toContain(sessionToken);
    return rest;
  });
}

describe("the secret", () => {
  test("is neither shown nor read until the user asks for it", async () => {
    const hidden = await visitor.get("/test/webhooks");
    expect(hidden.text).not.toContain(SECRET);
    expect(calls("getWebhookSecret")).toEqual([{ withoutValue: true }]);
    const shown = await visitor.post("/test/webhooks/secret/show");
    expect(shown.text).toContain(`<code>${SECRET}</code>`);
    expect(shown.headers.get("cache-control")).toBe("no-store");
  });

  test("says until when the previous one also signs", async () => {
    expect((await visitor.get("/test/webhooks")).text).not.toContain("previous secret");
    dashboard.state.previousValidUntil = new Date("2026-11-22T07:53:20Z");
    const { text } = await visitor.get("/test/webhooks");
    expect(text).toContain('until <time datetime="2026-11-22T07:53:20.000Z">2026-11-22 07:53 UTC</time>');
  });

  test.each([
    ["keep", {}],
    ["end", { endPreviousNow: true }],
  ])("is rotated with the previous one to %s", async (previous, expected) => {
    const form = { form_token: await visitor.formToken("/test/webhooks"), previous };
    expect((await visitor.post("/test/webhooks/secret/rotate", form)).location).toBe("/test/webhooks?done=rotated");
    expect(calls("rotateWebhookSecret")).toEqual([{ ...expected, submission: expect.any(String) }]);
  });

  test("is rotated under the form's submission id, and a form whose answer was lost is refused the second time", async () => {
    const form_token = await visitor.formToken("/test/webhooks");
    // The answer to the first one's form does not reach the second one, which has the same open form.
    const [first, second] = [visitor.clone(), visitor.clone()];
    await first.post("/test/webhooks/secret/rotate", { form_token, previous: "keep" });
    await second.post("/test/webhooks/secret/rotate", { form_token, previous: "end" });
    const submission = expect.stringMatching(/^[\w-]{43}$/);
    const [before, again] = calls("rotateWebhookSecret") as { submission: string }[];
    expect([before, again]).toEqual([{ submission }, { endPreviousNow: true, submission: before!.submission }]);
    dashboard.fail("rotateWebhookSecret", "idempotency_conflict");
    const refused = await visitor.post("/test/webhooks/secret/rotate", { form_token });
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("This form was already sent")]);
  });

  test("is not rotated while two sign, and the page says why", async () => {
    const message = "The previous secret still signs until 2026-11-22 07:53 UTC.";
    dashboard.fail("rotateWebhookSecret", "invalid_request", { message });
    const form = { form_token: await visitor.formToken("/test/webhooks"), previous: "keep" };
    const { status, text } = await visitor.post("/test/webhooks/secret/rotate", form);
    expect([status, text]).toEqual([400, expect.stringContaining(message)]);
  });

  test("of the user's own is set as pasted, trimmed", async () => {
    const form = { form_token: await visitor.formToken("/live/webhooks"), previous: "end", value: ` ${SECRET}\r\n` };
    expect((await visitor.post("/live/webhooks/secret", form)).location).toBe("/live/webhooks?done=set");
    expect(calls("setWebhookSecret")).toEqual([
      { value: SECRET, endPreviousNow: true, submission: expect.any(String) },
    ]);
  });

  test("that is malformed is refused with the reason, and not sent back", async () => {
    const details = [{ path: "value", message: "must be whsec_ and base64 of 24–64 bytes" }];
    dashboard.fail("setWebhookSecret", "invalid_request", { details });
    const form = { form_token: await visitor.formToken("/test/webhooks"), value: "my-own-secret" };
    const { status, text } = await visitor.post("/test/webhooks/secret", form);
    expect(status).toBe(400);
    expect(text).toContain("The secret must be whsec_ and base64 of 24–64 bytes. Nothing was changed.");
    expect(text).not.toContain("my-own-secret");
  });

  test("that was replaced can be ended immediately while it still signs", async () => {
    expect((await visitor.get("/test/webhooks")).text).not.toContain("End the previous secret now");
    dashboard.state.previousValidUntil = new Date("2026-11-22T07:53:20Z");
    const form = { form_token: await visitor.formToken("/test/webhooks") };
    expect((await visitor.post("/test/webhooks/secret/end-previous", form)).location).toBe("/test/webhooks?done=ended");
    expect(calls("endPreviousWebhookSecret")).toEqual([{}]);
    expect((await visitor.get("/test/webhooks?done=ended")).text).toContain("The previous secret has ended.");
  });
});

describe("the overview", () => {
  test("shows the newest deliveries with links to them", async () => {
    dashboard.state.deliveries = [deliveryOf(), deliveryOf({ test: true })];
    dashboard.state.entities = [{ id: deliveryOf().entityId!, legalName: "Acme <Widgets>" }];
    const { text } = await visitor.get("/test/webhooks");
    expect(text).toContain(`<a href="/test/webhooks/deliveries/${DELIVERY_ID}">Acme &lt;Widgets&gt;</a>`);
    expect(text).toContain(`<a href="/test/webhooks/deliveries/${DELIVERY_ID}">Test event</a>`);
    expect(text).toContain("timeout, 15.0 s");
  });

  test("shows the secret while deliveries and endpoints are unavailable", async () => {
    for (const method of ["listDeliveries", "listEndpoints"]) dashboard.fail(method, "service_unavailable");
    const { status, text } = await visitor.get("/test/webhooks");
    expect(status).toBe(200);
    expect(text).toContain("Deliveries can’t be shown, because a service is temporarily unavailable.");
    expect(text).toContain("The state of webhook endpoints is temporarily unavailable.");
  });
});

describe("endpoints", () => {
  const since = timestampFromDate(new Date("2026-11-19T08:00:30Z"));
  const failing = {
    webhookUrl: "https://acme.example/hook?a=<b>",
    state: "failing",
    failingSince: since,
    consecutiveFailures: 1_204n,
    lastFailureAt: since,
    lastError: "timeout",
  };

  test("show how they answer and what to do about it", async () => {
    const healthy = { webhookUrl: "https://acme.example/well", state: "healthy", lastSuccessAt: since };
    dashboard.state.endpoints = [failing, { ...failing, state: "troubled" }, healthy];
    const { text } = await visitor.get("/live/webhooks");
    expect(text).toContain(`<code class="url">${breakable(failing.webhookUrl).markup}</code>`);
    expect(text).toContain("1,204 failures in a row");
    expect(text).toContain("no complete answer within 15 s");
    const url = encodeURIComponent(failing.webhookUrl);
    expect(text).toContain(`/live/webhooks/replay?url=${url}&amp;since=2026-11-19T07%3A59"`);
    expect(text).toContain('<span class="state healthy">healthy</span>');
  });

  test.each(["/live/webhooks", "/live/api-keys", "/live/verifications", "/live/providers"])(
    "that are flagged are reported on %s",
    async (path) => {
      expect((await visitor.get(path)).text).not.toContain("Failing webhooks");
      dashboard.state.endpoints = [failing, { ...failing, state: "gone" }];
      const { text } = await visitor.get(path);
      expect(text).toContain("began to fail");
      expect(text).toContain("and 1 more endpoint)");
    },
  );

  test("can be dismissed wherever they are warned of, which ends the warning", async () => {
    dashboard.state.endpoints = [failing];
    const form = '<form method="post" action="/live/webhooks/endpoints/dismiss">';
    const url = '<input type="hidden" name="url" value="https://acme.example/hook?a=&lt;b&gt;">';
    expect((await visitor.get("/live/api-keys")).text).toContain(form + url);
    const { location } = await visitor.post("/live/webhooks/endpoints/dismiss", { url: failing.webhookUrl });
    expect(location).toBe("/live/webhooks?done=dismissed#endpoints");
    expect(dashboard.state.calls).toContain(`dismissEndpoint ${failing.webhookUrl}`);
    expect((await visitor.get("/live/api-keys")).text).not.toContain("Failing webhooks");
    dashboard.fail("dismissEndpoint", "not_found");
    expect((await visitor.post("/live/webhooks/endpoints/dismiss", { url: "x" })).location).toBe(location);
  });

  test("that are unavailable delay no page", async () => {
    dashboard.fail("listEndpoints", "internal_error");
    expect((await visitor.get("/live/api-keys")).status).toBe(200);
  });

  test("that have failed for less than a day raise no alert", async () => {
    dashboard.state.endpoints = [{ ...failing, state: "troubled" }];
    expect((await visitor.get("/live/api-keys")).text).not.toContain("Failing webhooks");
  });
});

test("a page whose address names no known notice is shown without one", async () => {
  const { status, text } = await visitor.get("/test/webhooks?done=constructor");
  expect([status, text.includes('class="notice')]).toEqual([200, false]);
});
