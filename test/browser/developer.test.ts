import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { sharedProduct } from "../support/product.ts";
import { isSignedWith } from "../support/signed-with.ts";
import { type Received, startSubscriber } from "../support/subscriber.ts";
import { expectSound } from "./appearance.ts";
import { countOf, launchBrowser, newProfile, textsOf } from "./browser.ts";
import { createKey, expectNoComplaints, submitSignUp } from "./dashboard-page.ts";
import { openMail } from "./mailbox-page.ts";

// The walk of a developer whose organization is new. The tests build on each other and run in order.

const { dashboardUrl } = sharedProduct();
const CHANGING_VENDOR = "Sandbox Changing Status Inc";
const person = { organization: "Fresh Fields", email: `${randomUUID()}@new.example`, password: randomUUID() };

const [browser, subscriber] = await Promise.all([launchBrowser(), startSubscriber()]);
const context = await newProfile(browser, { baseURL: dashboardUrl });
expectNoComplaints(context);
const page = await context.newPage();

const section = (name: string) => page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name });
const firstSteps = () => page.getByRole("region", { name: "First steps in the Test environment" });

/** Returns the event in a POST, without the time of the attempt. */
const eventIn = ({ body }: Received) => ({ ...JSON.parse(body), delivered_at: undefined });

/** Runs a command of a page in a shell; returns the JSON that it prints. */
async function run(command: string, env: Readonly<Record<string, string>> = {}) {
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", command], { env: { ...process.env, ...env } });
  return JSON.parse(stdout);
}

test("developer: the overview of a new organization leads to a key, and its calls work as they stand", async () => {
  await submitSignUp(page, person);
  const mail = await openMail(page, { to: person.email, subject: "Confirm your email address" });
  await mail.getByRole("link").click();
  await page.getByLabel("Password").fill(person.password);
  await page.getByRole("button", { name: "Confirm and sign in" }).click();
  await firstSteps().waitFor();
  await expectSound(page, "the overview of a new organization");
  const callOfOverview = (await page.getByLabel("A first call").textContent())!;

  await firstSteps().getByRole("link", { name: "Create an API key" }).click();
  const key = await createKey(page, "My laptop");
  await expectSound(page, "a new key");
  const callOfKey = (await page.getByLabel("A first call with curl").textContent())!;
  expect(await run(callOfKey)).toMatchObject({ overall_result: "pass" });
  expect(await run(callOfOverview, { VENDOR_VERIFICATION_API_KEY: key })).toMatchObject({ overall_result: "pass" });

  await page.getByRole("link", { name: "I have saved the key" }).click();
  await section("Overview").click();
  await firstSteps().waitFor();
  expect(await textsOf(firstSteps().locator(".state"))).toEqual(["done", "done"]);
});

test("developer: the third step leads to a vendor that changes, whose event arrives signed at the webhook endpoint", async () => {
  await firstSteps().getByRole("link", { name: "Receive changes by webhook" }).click();
  await expectSound(page, "a vendor to try");
  await page.getByRole("link", { name: CHANGING_VENDOR }).click();
  await page.getByRole("heading", { name: "Verify or monitor" }).waitFor();
  await page.getByLabel("Webhook URL").fill(subscriber.url);
  await page.getByLabel("How often").selectOption("hourly");
  await page.getByRole("button", { name: "Monitor", exact: true }).click();
  await page.getByText("The monitor was created.").waitFor();
  const sent = await subscriber.waitForPost();
  await page.getByRole("region", { name: "Verify or monitor" }).getByRole("link", { name: /^mon_/ }).click();
  await page.getByRole("link", { name: "Cancel this monitor" }).click();
  await page.getByRole("button", { name: "Cancel monitor" }).click();
  await page.getByText("The monitor was canceled.").waitFor();

  await section("Webhooks").click();
  await page.getByRole("button", { name: "Show" }).click();
  const secret = (await page.locator("#secret-value").textContent())!;
  expect(isSignedWith(secret, sent)).toBe(true);
  await eventually(async () => {
    await section("Overview").click();
    return (await countOf(firstSteps())) === 0;
  });
});

test("developer: a delivery is found by its event, shows what was sent as it arrived, and is sent again from there", async () => {
  const [first] = subscriber.received;
  const eventId = String(first!.headers["webhook-id"]);
  const changes = page.getByRole("region", { name: "Latest changes" });
  await changes.getByRole("link", { name: CHANGING_VENDOR }).first().click();
  await page.getByRole("link", { name: `View deliveries of ${eventId}` }).click();
  expect(await countOf(page.locator("tbody tr"))).toBe(1);
  await expectSound(page, "deliveries of an event");
  await page.locator("tbody").getByRole("link").click();
  await page.getByText("What was sent").click();
  await expectSound(page, "a delivery");
  const body = (await page.getByLabel("The body of attempt 1").textContent())!;
  expect(JSON.parse(body)).toEqual(JSON.parse(first!.body));
  const headers = (await page.getByLabel("The headers of attempt 1").textContent())!;
  for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature", "X-Service-Signature"]) {
    expect(headers).toContain(`${name}: ${first!.headers[name.toLowerCase()]}`);
  }

  await page.getByRole("button", { name: "Deliver again" }).click();
  await page.getByText("The delivery starts again.").waitFor();
  const again = await subscriber.waitForPost(
    (each) => each.headers["webhook-id"] === eventId && each.headers["x-delivery-attempt"] === "2",
  );
  expect(eventIn(again)).toEqual(eventIn(first!));
  await eventually(async () => {
    await page.reload();
    return (await countOf(page.getByRole("heading", { name: "2 attempts" }))) === 1;
  });
  await expectSound(page, "a delivery that was sent again");
});
