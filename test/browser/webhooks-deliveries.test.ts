import { afterAll, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { MongoClient } from "mongodb";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { type Received, startSubscriber } from "../support/subscriber.ts";
import { expectSound } from "./appearance.ts";
import { countOf, newProfile, textsOf } from "./browser.ts";
import { sendTestEvent, signIn } from "./dashboard-page.ts";
import { signedInUser } from "./signed-in-user.ts";

const { dashboardUrl, environment, prefix } = sharedProduct();
const { browser, complaints, organization, page, secondPage } = await signedInUser();
const DAY_MS = 24 * 60 * 60 * 1000;
/** Monitor with a failing endpoint. */
let monitorId: string;
let isWell = false;
let isGone = true;

const mongo = await new MongoClient(environment.MONGODB_URI!).connect();
const db = mongo.db(`${prefix}webhook_dispatcher_sandbox`);
const subscriber = await startSubscriber(({ path }, response) => {
  const isFailing = path.startsWith("/failing") && !isWell;
  response.statusCode = path === "/gone" && isGone ? 410 : isFailing ? 500 : 200;
  response.end(response.statusCode === 500 ? "out of order" : "ok");
});

afterAll(async () => {
  subscriber.close();
  await mongo.close();
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
  await eventually(async () => {
    await page.goto(path);
    return (await countOf(page.getByRole("complementary", { name: "Failing webhooks" }))) === 1;
  });
}

/** Monitors a vendor that changes until its first change was sent; returns the monitor's id. */
async function monitorChanges(path: string): Promise<string> {
  const found = await organization.sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } });
  const { body: monitor } = await organization.sandbox.post("/v1/monitors", {
    entity_id: found.body.id,
    checks: ["sam_registration"],
    webhook_url: urlOf(path),
    frequency: "hourly",
  });
  await subscriber.waitForPost(({ body }) => JSON.parse(body).monitor_id === monitor.id);
  await organization.sandbox.delete(`/v1/monitors/${monitor.id}`);
  return monitor.id;
}

test("a delivery to a failing endpoint is shown as pending, with each attempt", async () => {
  monitorId = await monitorChanges("/failing");
  await eventually(async () => {
    await page.goto("/test/webhooks");
    return (await countOf(page.getByText("500,"))) > 0;
  });
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
  await eventually(async () => {
    await page.goto(`/test/webhooks/deliveries?monitor_id=${monitorId}&status=delivered`);
    return (await countOf(rows())) > 0;
  });
  const [first] = subscriber.received;
  const isSame = ({ headers }: Received) => headers["webhook-id"] === first!.headers["webhook-id"];
  const again = await eventually(() => subscriber.received.slice(before).find(isSame));
  expect(Number(again.headers["x-delivery-attempt"])).toBeGreaterThan(2);
  await rows().getByRole("link").last().click();
  await page.getByText(`Replayed by ${organization.email}`).waitFor();
  await eventually(async () => {
    await page.goto("/test/api-keys");
    return (await countOf(page.getByRole("complementary"))) === 0;
  });
  const entries = mongo.db(`${prefix}account`).collection("audit_log");
  const entry = await entries.findOne({ organization_id: organization.id, action: "webhook_deliveries.replayed" });
  expect(entry).toMatchObject({
    environment: "sandbox",
    actor: expect.stringMatching(/^usr_/),
    details: { host: expect.any(String) },
  });
});

test("one delivery is replayed from its page, without script", async () => {
  isWell = false;
  await testWebhook("/failing/one");
  const path = new URL(page.url()).pathname;
  isWell = true;
  const visitor = await secondPage();
  await visitor.goto(path);
  await visitor.getByRole("button", { name: "Replay" }).click();
  await visitor.getByText("The delivery starts again").waitFor();
  await eventually(async () => {
    await visitor.goto(path);
    return (await countOf(visitor.getByRole("heading", { name: "2 attempts" }))) === 1;
  });
  expect(await visitor.locator(".attempts .state").allTextContents()).toEqual(["failed", "delivered"]);
  await visitor.context().close();
});

test("deliveries are filtered by state, monitor, URL, time and test events, separately and together", async () => {
  isWell = false;
  await testWebhook("/failing/filtered");
  await testWebhook("/well");
  const filter = page.getByRole("search", { name: "Filter deliveries" });
  const filtered = async (act: () => Promise<unknown>) => {
    await page.goto("/test/webhooks/deliveries");
    await act();
    await page.getByRole("link", { name: "Show all" }).waitFor();
    return textsOf(rows());
  };
  const type = async (label: string, text: string) => {
    await filter.getByLabel(label).fill(text);
    await filter.getByLabel(label).press("Enter");
  };
  await page.goto("/test/webhooks/deliveries");
  const all = await rows().count();
  const failed = await filtered(() => filter.getByLabel("State").selectOption("failed"));
  expect(failed).toHaveLength(1);
  expect(failed[0]).toContain("/failing/filtered");
  const watched = await filtered(() => type("Monitor", monitorId));
  expect(watched.length).toBeGreaterThan(0);
  expect(watched.every((text) => !text.includes("Test event"))).toBe(true);
  const toUrl = await filtered(() => type("URL", urlOf("/well")));
  expect(toUrl).toHaveLength(1);
  const tests = await filtered(() => filter.getByLabel("Events").selectOption("only"));
  expect(tests).toHaveLength(all - watched.length);
  const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 16);
  expect(await filtered(() => type("From (UTC)", tomorrow))).toEqual([]);
  expect(await filtered(() => type("Before (UTC)", tomorrow))).toHaveLength(all);
  const together = await filtered(async () => {
    await filter.getByLabel("State").selectOption("delivered");
    await page.waitForURL(/status=delivered/);
    await filter.getByLabel("Events").selectOption("only");
    await page.waitForURL(/status=delivered.*tests=only/);
    await type("URL", urlOf("/well"));
    await page.waitForURL(/well/);
  });
  expect(together).toHaveLength(1);
  await page.getByRole("link", { name: "Show all" }).click();
  await page.getByRole("heading", { name: "All test deliveries" }).waitFor();
});

test("a test event to an endpoint that answers 410 shows its answer and raises no alert", async () => {
  await testWebhook("/gone");
  expect(await countOf(page.getByText("410: the endpoint is gone"))).toBe(1);
  await page.goto("/test/webhooks");
  expect(await countOf(page.getByRole("complementary"))).toBe(0);
  expect(await countOf(page.locator("li.endpoint").filter({ hasText: "/gone" }))).toBe(0);
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
  await eventually(async () => {
    await page.goto("/test/webhooks");
    return (await countOf(alert)) === 0;
  });
  isGone = false;
  await testWebhook("/gone");
  await page.getByText("200: delivered").waitFor();
  await shownOnceNoted("healthy", 0);
});

test("another organization and the other environment see none of the deliveries", async () => {
  await page.goto("/test/webhooks/deliveries");
  const path = (await rows().getByRole("link").first().getAttribute("href"))!;
  expect((await page.goto(path.replace("/test/", "/live/")))!.status()).toBe(404);
  const profile = await newProfile(browser, { baseURL: dashboardUrl });
  const stranger = await profile.newPage();
  await signIn(stranger, await createOrganization());
  expect((await stranger.goto(path))!.status()).toBe(404);
  await stranger.goto("/test/webhooks/deliveries");
  await stranger.getByText("No deliveries yet.").waitFor();
  await profile.close();
});

test("the browser reports no errors", () => {
  expect(complaints).toEqual([]);
});
