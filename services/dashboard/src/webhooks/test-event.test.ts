import { expect, test } from "@jest/globals";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { DELIVERY_ID } from "../testing/fake-dispatcher.ts";

const { dashboard, visitor } = dashboardPerTest();
const URL_GIVEN = "https://acme.example/hook";

const send = async (url = URL_GIVEN) => {
  const form = { form_token: await visitor.formToken("/live/webhooks/test"), url };
  return visitor.post("/live/webhooks/test", form);
};

test("URLs used before are offered, and a link can fill one in", async () => {
  dashboard.state.endpoints = [{ webhookUrl: "https://acme.example/known", state: "healthy" }];
  const { text } = await visitor.get(`/live/webhooks/test?url=${encodeURIComponent(URL_GIVEN)}`);
  expect(text).toContain('<option value="https://acme.example/known">');
  expect(text).toContain(`value="${URL_GIVEN}"`);
});

test("an event is sent to the URL, and its delivery shows the outcome", async () => {
  const { location } = await send(` ${URL_GIVEN}\r\n`);
  expect(location).toBe(`/live/webhooks/deliveries/${DELIVERY_ID}`);
  expect(dashboard.callsOf("sendTestEvent")).toMatchObject([{ webhookUrl: URL_GIVEN }]);
  expect((await visitor.get(location!)).text).toContain("X-Delivery-Test: true");
});

test("a URL that may not receive events is refused with the reason", async () => {
  const details = [{ path: "webhook_url", message: "must begin with https://" }];
  dashboard.fail("sendTestEvent", "invalid_request", { details });
  const { status, text } = await send("http://acme.example/hook");
  expect(status).toBe(400);
  expect(text).toContain("The webhook URL must begin with https://. Nothing was sent.");
});

test("after too many test events the page says to wait", async () => {
  const message = "20 test events were sent within a minute.";
  dashboard.fail("sendTestEvent", "rate_limited", { message });
  const { status, text } = await send();
  expect(status).toBe(429);
  expect(text).toContain(message);
});
