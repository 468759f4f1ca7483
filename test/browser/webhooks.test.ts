import { expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { isSignedWith } from "../support/signed-with.ts";
import { startSubscriber } from "../support/subscriber.ts";
import { countOf } from "./browser.ts";
import { sendTestEvent } from "./dashboard-page.ts";
import { signedInUser } from "./signed-in-user.ts";

const { organization, page } = await signedInUser();

async function shownSecret(): Promise<string> {
  await page.goto("/test/webhooks");
  await page.getByRole("button", { name: "Show" }).click();
  return (await page.locator("#secret-value").textContent())!;
}

async function testWebhook(url: string): Promise<void> {
  await page.goto("/test/webhooks");
  await page.getByRole("link", { name: "Send a test event", exact: true }).click();
  await sendTestEvent(page, url);
}

test("the secret is hidden until the user shows it", async () => {
  await page.goto("/test/webhooks");
  expect(await page.content()).not.toContain(organization.webhookSecrets.sandbox);
  expect(await shownSecret()).toBe(organization.webhookSecrets.sandbox);
  await page.getByRole("link", { name: "Hide" }).click();
  await page.getByRole("button", { name: "Show" }).waitFor();
  expect(await page.content()).not.toContain(organization.webhookSecrets.sandbox);
});

test("while an endpoint takes its time, the form shows that it was sent and can’t be sent again", async () => {
  const answered = Promise.withResolvers<void>();
  const slow = await startSubscriber(async (_received, response) => {
    await answered.promise;
    response.end("ok");
  });
  await page.goto("/test/webhooks/test");
  await page.getByLabel("URL").fill(slow.url);
  // In the page, because a locator would wait for the answer.
  const shown = await page.evaluate<string>(`new Promise((resolve) => {
    const button = document.querySelector("form[data-busy] button");
    button.click();
    const look = () =>
      button.disabled ? resolve(document.querySelector("[role=status]").textContent) : requestAnimationFrame(look);
    look();
  })`);
  expect(shown).toMatch(/^Waiting for the answer of your endpoint … \d+ s$/);
  answered.resolve();
  await page.getByRole("heading", { name: "Test event" }).waitFor();
  expect(slow.received).toHaveLength(1);
});

test("after a rotation both secrets sign a test event, and only the new one once the previous one is ended", async () => {
  const subscriber = await startSubscriber();
  const before = await shownSecret();
  await page.getByText("Rotate: replace the secret with a new random one").click();
  await page.getByRole("button", { name: "Rotate secret" }).click();
  await page.getByText("The secret was replaced.").waitFor();
  const after = await shownSecret();

  await testWebhook(subscriber.url);
  const [both] = subscriber.received;
  expect([isSignedWith(before, both!), isSignedWith(after, both!)]).toEqual([true, true]);
  expect(both!.headers["x-delivery-test"]).toBe("true");
  expect(JSON.parse(both!.body)).toMatchObject({ event: "monitor.change_detected", test: true });

  await page.goto("/test/webhooks");
  await page.getByRole("button", { name: "End the previous secret now" }).click();
  await page.getByText("The previous secret has ended.").waitFor();
  expect(await countOf(page.getByText("Webhooks are also signed with the previous secret"))).toBe(0);
  // The dispatcher notices within a second.
  await eventually(async () => {
    await testWebhook(subscriber.url);
    return !isSignedWith(before, subscriber.received.at(-1)!);
  });
  expect(isSignedWith(after, subscriber.received.at(-1)!)).toBe(true);
});
