import { expect, test } from "@jest/globals";
import { eventually, untilEnd } from "@vvs/testing";
import { MongoClient } from "mongodb";
import { sharedProduct } from "../support/product.ts";
import { type Received, startSubscriber } from "../support/subscriber.ts";
import { monitorChanging } from "../support/watching-organization.ts";
import { expectSound } from "./appearance.ts";
import { countOf, openUntil } from "./browser.ts";
import { sendTestEvent } from "./dashboard-page.ts";
import { signedInUser } from "./signed-in-user.ts";

const { environment, prefix } = sharedProduct();
const { organization, page } = await signedInUser();
const DAY_MS = 24 * 60 * 60 * 1000;
/** Monitor with a failing endpoint. */
let monitorId: string;
let isWell = false;
let isGone = true;

const mongo = untilEnd(await new MongoClient(environment.MONGODB_URI!).connect());
const db = mongo.db(`${prefix}webhook_dispatcher_sandbox`);
const subscriber = await startSubscriber(({ path }, response) => {
  const isFailing = path.startsWith("/failing") && !isWell;
  response.statusCode = path === "/gone" && isGone ? 410 : isFailing ? 500 : 200;
  response.end(response.statusCode === 500 ? "out of order" : "ok");
});

const urlOf = (path: string) => new URL(path, subscriber.url).href;
const rows = () => page.locator("tbody tr");

async function testWebhook(path: string): Promise<void> {
  await page.goto("/test/webhooks/test");
  await sendTestEvent(page, urlOf(path));
}

/** Ends the 24 h of the pending deliveries, and makes the endpoint count as failing for two days. */
async function failForADay(): Promise<void> {
  const now = new Date();
  await eventually(async () => {
    await db
      .collection("deliveries")
      .updateMany(
        { monitor_id: monitorId, status: "pending", "attempts.0": { $exists: true }, lease: { $exists: false } },
        { $set: { window_started_at: new Date(now.getTime() - DAY_MS), next_attempt_at: now, due_at: now } },
      );
    return (await db.collection("deliveries").countDocuments({ monitor_id: monitorId, status: "pending" })) === 0;
  });
  await eventually(async () => {
    const failing = { url: urlOf("/failing"), failing_since: { $ne: null } };
    const since = new Date(now.getTime() - 2 * DAY_MS);
    const update = { $set: { failing_since: since }, $inc: { rev: 1 } };
    return (await db.collection("endpoints").updateOne(failing, update)).matchedCount === 1;
  });
}

/** Opens a page until it shows the alert, which a page leaves out if reading it takes too long. */
async function seeAlertOn(path: string): Promise<void> {
  await openUntil(path, page.getByRole("complementary", { name: "Failing webhooks" }));
}

/** Monitors a vendor that changes until its first change was sent; returns the monitor's id. */
async function monitorChanges(path: string): Promise<string> {
  const monitor = await monitorChanging(organization.sandbox, { webhook_url: urlOf(path) });
  await subscriber.waitForPost(({ body }) => JSON.parse(body).monitor_id === monitor.id);
  await organization.sandbox.delete(`/v1/monitors/${monitor.id}`);
  return monitor.id;
}

test("a delivery to a failing endpoint is shown as pending, with each attempt", async () => {
  monitorId = await monitorChanges("/failing");
  await openUntil("/test/webhooks", page.getByText("500,"));
  // A later change may already wait for its first attempt.
  await rows().filter({ hasText: "500," }).getByRole("link").first().click();
  await eventually(async () => {
    await page.reload();
    return (await countOf(page.getByText(/The next attempt is (in|within) /))) === 1;
  });
  const attempt = page.locator(".attempts > li").first();
  expect(await attempt.textContent()).toMatch(
    /Attempt 1.*failed.*Started.*UTC.*Duration.*ms.*500: the answer was not 2xx/s,
  );
  expect(await attempt.getByLabel("Beginning of the answer").textContent()).toBe("out of order");
  await attempt.getByText("What was sent").click();
  expect(await attempt.getByLabel("The body of attempt 1").textContent()).toContain(monitorId);
  expect(await attempt.getByLabel("The headers of attempt 1").textContent()).toMatch(
    /X-Service-Signature: t=\d+,v1=[0-9a-f]{64}.*webhook-signature: v1,/s,
  );
});

test("an endpoint that has failed for days causes an alert on every page of its environment and is marked", async () => {
  await failForADay();
  for (const path of ["/test/api-keys", "/test/verifications", "/test/webhooks/deliveries"]) {
    await seeAlertOn(path);
  }
  await page.goto("/live/api-keys");
  expect(await countOf(page.getByRole("complementary"))).toBe(0);
  await seeAlertOn("/test/api-keys");
  await page.getByRole("link", { name: "View webhook endpoints" }).click();
  const endpoint = page.locator("li.endpoint").filter({ hasText: "/failing" });
  expect(await endpoint.locator(".state").textContent()).toBe("failing");
  expect(await endpoint.textContent()).toContain("500: the answer was not 2xx");
});

test("the marked endpoint and its deliveries fit and are readable", async () => {
  for (const path of ["/test/webhooks", `/test/webhooks/deliveries?monitor_id=${monitorId}`]) {
    await page.goto(path);
    await expectSound(page, path);
  }
});

test("all failed deliveries are counted, confirmed and replayed, and arrive once the endpoint works again", async () => {
  await page.goto("/test/webhooks");
  await page.getByRole("link", { name: `Replay failed deliveries to ${urlOf("/failing")}` }).click();
  await page.getByRole("heading", { name: /Replay \d+ failed deliver/ }).waitFor();
  const before = subscriber.received.length;
  isWell = true;
  await page.getByRole("button", { name: /Replay \d+ failed deliver/ }).click();
  await page.getByText(/failed (delivery starts|deliveries start) again/).waitFor();
  await openUntil(`/test/webhooks/deliveries?monitor_id=${monitorId}&status=delivered`, rows());
  const [first] = subscriber.received;
  const isSame = ({ headers }: Received) => headers["webhook-id"] === first!.headers["webhook-id"];
  const again = await eventually(() => subscriber.received.slice(before).find(isSame));
  expect(Number(again.headers["x-delivery-attempt"])).toBeGreaterThan(2);
  await rows().getByRole("link").last().click();
  await page.getByText(`Replayed by ${organization.email}`).waitFor();
  await openUntil("/test/api-keys", page.getByRole("complementary"), false);
  const entries = mongo.db(`${prefix}account`).collection("audit_log");
  const entry = await entries.findOne({ organization_id: organization.id, action: "webhook_deliveries.replayed" });
  expect(entry).toMatchObject({
    environment: "sandbox",
    actor: expect.stringMatching(/^usr_/),
    details: { host: expect.any(String) },
  });
});

test("an endpoint that answers events with 410 is flagged but not paused, can be dismissed, and recovers", async () => {
  const endpoint = page.locator("li.endpoint").filter({ hasText: "/gone" });
  const alert = page.getByRole("complementary", { name: "Failing webhooks" });
  // The page reads its alert and its list separately, so one of them can still be out of date.
  const shownOnceNoted = (state: string, alerts: number) =>
    eventually(async () => {
      await page.goto("/test/webhooks");
      return (await countOf(endpoint.getByText(state, { exact: true }))) === 1 && (await countOf(alert)) === alerts;
    });
  await monitorChanges("/gone");
  await shownOnceNoted("gone", 1);
  expect(await alert.textContent()).toContain("410 Gone");
  await alert.getByRole("button", { name: "Dismiss" }).click();
  await page.getByText("The endpoint was dismissed.").waitFor();
  await openUntil("/test/webhooks", alert, false);
  isGone = false;
  await testWebhook("/gone");
  await page.getByText("200: delivered").waitFor();
  await shownOnceNoted("healthy", 0);
});
