import { beforeEach, describe, expect, test } from "@jest/globals";
import type { BrowserContext, Page } from "playwright-core";
import { withAccounts } from "../../deploy/local/seed.ts";
import { stepOf, totpCode } from "../../services/account/src/testing/totp.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { countOf, launchBrowser, newProfile } from "./browser.ts";
import { signIn } from "./dashboard-page.ts";

const { dashboardUrl, environment } = sharedProduct();
let organization: TestOrganization;

const browser = await launchBrowser();

beforeEach(async () => {
  organization = await createOrganization();
});

/** A fresh profile of the browser, signed in. */
async function signedIn(): Promise<{ context: BrowserContext; page: Page }> {
  const context = await newProfile(browser, { baseURL: dashboardUrl });
  const page = await context.newPage();
  await signIn(page, organization);
  return { context, page };
}

async function sessionCookie(context: BrowserContext) {
  return (await context.cookies()).find(({ name }) => name === "__Host-session")!;
}

/** Makes the user's last password entry that long ago. */
async function passwordGivenAgo(milliseconds: number): Promise<void> {
  await withAccounts(environment, async ({ store }) => {
    const authenticated_at = new Date(Date.now() - milliseconds);
    await store.sessions.updateMany({ organization_id: organization.id }, { $set: { authenticated_at } });
  });
}

/** Returns whether the cookies of this profile give access to the user's account. */
async function hasAccess(context: BrowserContext): Promise<boolean> {
  const page = await context.newPage();
  await page.goto("/test/security");
  const isOpen = new URL(page.url()).pathname === "/test/security";
  await page.close();
  return isOpen;
}

test("a user finds an unknown session and ends it with the keyboard", async () => {
  const [mine, lost] = [await signedIn(), await signedIn()];
  await mine.page.getByRole("link", { name: organization.email }).click();
  await mine.page.getByRole("heading", { name: "Where you are signed in" }).waitFor();
  expect(await countOf(mine.page.getByText("this browser"))).toBe(1);
  expect(await countOf(mine.page.locator("tbody tr"))).toBe(2);
  await mine.page.getByRole("button", { name: "End the session" }).focus();
  await mine.page.keyboard.press("Enter");
  await mine.page.getByText("The session has ended.").waitFor();
  expect(await countOf(mine.page.locator("tbody tr"))).toBe(1);
  expect(await hasAccess(lost.context)).toBe(false);
  expect(await hasAccess(mine.context)).toBe(true);
});

describe("a password entered long ago", () => {
  test("is asked for before a secret is shown; then the page opens again, and the previous session token stops working", async () => {
    const { context, page } = await signedIn();
    const before = await newProfile(browser, { baseURL: dashboardUrl });
    await before.addCookies([await sessionCookie(context)]);
    await passwordGivenAgo(16 * 60_000);
    await page.goto("/test/webhooks");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByRole("heading", { name: "Confirm your password" }).waitFor();
    expect(await page.content()).not.toContain(organization.webhookSecrets.sandbox);
    await page.keyboard.type("a wrong password");
    await page.keyboard.press("Enter");
    await page.getByText("This is not your password.").waitFor();
    await page.getByLabel("Password").fill(organization.password);
    await page.keyboard.press("Enter");
    await page.getByText("Your identity is confirmed.").waitFor();
    await page.getByRole("button", { name: "Show" }).click();
    expect(await page.locator("#secret-value").textContent()).toBe(organization.webhookSecrets.sandbox);
    expect(await hasAccess(before)).toBe(false);
  });
});

test("with an authenticator app a sign-in needs its code or a recovery code", async () => {
  const { page } = await signedIn();
  await page.goto("/test/security");
  await page.getByRole("link", { name: "Set up an app" }).click();
  const { width } = (await page.getByRole("img", { name: "QR code with the key for the app" }).boundingBox())!;
  expect(width).toBeGreaterThan(150);
  const secret = (await page.locator("#totp-secret").textContent())!.replaceAll(" ", "");
  const usedStep = stepOf(new Date());
  await page.getByLabel("Code", { exact: true }).fill(totpCode(secret, usedStep));
  await page.getByRole("button", { name: "Turn on" }).click();
  const recoveryCodes = (await page.locator("#recovery-codes").textContent())!.split("\n");
  await page.getByRole("link", { name: "I have saved them" }).click();
  await page.getByText("10 of 10 recovery codes left").waitFor();

  const other = await newProfile(browser, { baseURL: dashboardUrl, javaScriptEnabled: false });
  const begin = async () => {
    const next = await other.newPage();
    await next.goto("/sign-in?next=%2Flive%2Fsecurity");
    await next.getByLabel("Email address").fill(organization.email);
    await next.getByLabel("Password").fill(organization.password);
    await next.keyboard.press("Enter");
    await next.getByRole("heading", { name: "Enter a code" }).waitFor();
    return next;
  };
  const first = await begin();
  expect(await hasAccess(other)).toBe(false);
  await first.getByLabel("Code", { exact: true }).fill("000000");
  await first.keyboard.press("Enter");
  await first.getByText("The code is wrong").waitFor();
  // A code works once. That of the next step works already.
  const nextStep = Math.max(usedStep + 1, stepOf(new Date()));
  await first.getByLabel("Code", { exact: true }).fill(totpCode(secret, nextStep));
  await first.keyboard.press("Enter");
  await first.getByRole("heading", { name: "Security", exact: true }).waitFor();
  await first.getByRole("button", { name: "Sign out" }).click();

  const second = await begin();
  await second.getByLabel("Code", { exact: true }).fill(recoveryCodes[0]!);
  await second.keyboard.press("Enter");
  await second.getByText("9 of 10 recovery codes left").waitFor();
});
