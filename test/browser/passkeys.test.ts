import { beforeEach, expect, test } from "@jest/globals";
import type { BrowserContext, CDPSession, Page } from "playwright-core";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { expectSound } from "./appearance.ts";
import { countOf, launchBrowser, newProfile } from "./browser.ts";
import { expectNoComplaints, signIn } from "./dashboard-page.ts";
import { startOtherSite } from "./other-site.ts";

const { dashboardUrl } = sharedProduct();
let organization: TestOrganization;
let context: BrowserContext;
let page: Page;
let devtools: CDPSession;

const browser = await launchBrowser();

beforeEach(async () => {
  organization = await createOrganization();
  context = await newProfile(browser, { baseURL: dashboardUrl });
  expectNoComplaints(context);
  page = await context.newPage();
  await addAuthenticator();
});

/** Adds a virtual device to the browser that keeps passkeys and treats its user as verified. */
async function addAuthenticator(): Promise<void> {
  devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

async function addPasskey(name: string): Promise<void> {
  await signIn(page, organization);
  await page.goto("/test/security");
  await page.getByRole("link", { name: "Add a passkey" }).click();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Add passkey" }).click();
  await page.getByText("The passkey was added.").waitFor();
}

async function signOut(): Promise<void> {
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You have signed out.").waitFor();
}

test("a passkey can be added, sign a user in, confirm their identity, and be removed", async () => {
  await addPasskey("Laptop");
  await signOut();
  await page.goto("/sign-in?next=%2Ftest%2Fsecurity");
  await page.getByRole("link", { name: "Sign in with a passkey" }).click();
  await page.getByRole("heading", { name: "Security", exact: true }).waitFor();
  const row = page.getByRole("row", { name: "Laptop" });
  expect(await countOf(row.locator("td[data-label='Last used'] time"))).toBe(1);
  await page.goto("/test/security/confirm?next=%2Ftest%2Fapi-keys");
  await page.getByRole("link", { name: "Use a passkey" }).click();
  await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();

  await page.goto("/test/security/passkeys/new");
  await page.getByRole("button", { name: "Add passkey" }).click();
  await page.getByText("This device already has a passkey for your account.").waitFor();
  await page.goto("/test/security");
  await row.getByRole("button", { name: "Remove" }).click();
  await page.getByText("The passkey was removed.").waitFor();
  expect(await row.count()).toBe(0);
  await signOut();
  await page.getByRole("link", { name: "Sign in with a passkey" }).click();
  await page.getByText("This passkey is not registered here, or signing in took too long. Try again.").waitFor();
  await page.getByRole("link", { name: "Use your password" }).click();
  await page.getByLabel("Password").waitFor();
});

test("a passkey's answer to a page on another port of the same host is refused", async () => {
  await addPasskey("Laptop");
  await signOut();
  const plain = await newProfile(browser, { baseURL: dashboardUrl, javaScriptEnabled: false });
  const plainPage = await plain.newPage();
  await plainPage.goto("/sign-in/passkey");
  const options = (await plainPage.locator("form").getAttribute("data-options"))!;
  const site = await startOtherSite(
    `<title>Other</title><form data-passkey="get" data-options='${options}'><input name="response"><p data-passkey-problem></p><button>Go</button></form><p data-no-passkeys></p>`,
  );
  // The device answers this page because its host is the same; only the origin in the answer differs.
  await page.goto(`http://localhost:${site}/`);
  const script = await (await fetch(new URL(await scriptPath(), dashboardUrl))).text();
  await page.evaluate("HTMLFormElement.prototype.submit = () => { document.title = 'answered' }");
  await page.addScriptTag({ content: script });
  await page.getByRole("button", { name: "Go" }).click();
  await page.waitForFunction("document.title === 'answered'");
  const response = await page.locator("input[name=response]").inputValue();
  const ceremony = await plainPage.locator("input[name=ceremony]").inputValue();
  const cookie = (await plain.cookies()).find(({ name }) => name === `__Host-passkey-${ceremony}`)!;
  const answer = await fetch(`${dashboardUrl}/sign-in/passkey`, {
    method: "POST",
    body: new URLSearchParams({ ceremony, response }),
    headers: { cookie: `${cookie.name}=${cookie.value}`, "sec-fetch-site": "same-origin" },
  });
  expect(answer.status).toBe(401);
});

test("without script the pages say so and link to the password; all pages fit the window and are accessible", async () => {
  const plain = await newProfile(browser, { baseURL: dashboardUrl, javaScriptEnabled: false });
  const plainPage = await plain.newPage();
  await plainPage.goto("/sign-in/passkey");
  await plainPage.getByText("This browser does not support passkeys").waitFor();
  expect(await plainPage.getByRole("button", { name: "Use a passkey" }).count()).toBe(0);
  await plainPage.getByRole("link", { name: "Sign in with your password." }).click();
  await plainPage.getByLabel("Password").waitFor();
  await plain.close();

  await addPasskey("A name that is long enough to be broken over several lines on a narrow screen of a telephone");
  for (const path of ["/test/security", "/test/security/passkeys/new"]) {
    await page.goto(path);
    await expectSound(page, path);
  }
});

/** Returns the path of the passkey script that the dashboard serves. */
async function scriptPath(): Promise<string> {
  const text = await (await fetch(`${dashboardUrl}/sign-in/passkey`)).text();
  return /src="([^"]*passkeys\.js)"/.exec(text)![1]!;
}
