import { randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import type { Page } from "playwright-core";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { countOf, launchBrowser, newProfile } from "./browser.ts";
import { signIn } from "./dashboard-page.ts";
import { openMail } from "./mailbox-page.ts";
import { startOtherSite, submittingPage } from "./other-site.ts";

const { dashboardUrl } = sharedProduct();

const [browser, organization] = await Promise.all([launchBrowser(), createOrganization()]);

async function newPage(options: { javaScriptEnabled?: boolean } = {}) {
  const context = await newProfile(browser, { baseURL: dashboardUrl, ...options });
  return { context, page: await context.newPage() };
}

async function submitSignIn(page: Page, person: { email: string; password: string }) {
  await page.goto("/sign-in");
  await page.getByLabel("Email address").fill(person.email);
  await page.getByLabel("Password").fill(person.password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("a sign-in returns to the requested page, even without script", async () => {
  const { page } = await newPage({ javaScriptEnabled: false });
  await page.goto("/live/webhooks");
  await page.getByLabel("Email address").fill(organization.email.toUpperCase());
  await page.getByLabel("Password").fill(organization.password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Webhooks" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/live/webhooks");
});

test("scripts, unencrypted connections and other hosts do not get the session cookie", async () => {
  const { context, page } = await newPage();
  await signIn(page, organization);
  const cookie = (await context.cookies()).find(({ name }) => name === "__Host-session");
  expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: "Lax", path: "/", domain: "localhost" });
  expect(await page.evaluate<string>("document.cookie")).toBe("");
});

test("after a sign-out no page can be reached, not even with the back button", async () => {
  const { page } = await newPage();
  await signIn(page, organization);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You have signed out.").waitFor();
  await page.goBack();
  await page.getByLabel("Password").waitFor();
  await page.goto("/test/api-keys");
  await page.getByLabel("Password").waitFor();
});

test("without script: a forgotten password is reset by email, and every other session ends", async () => {
  const own = await createOrganization();
  const elsewhere = await newPage();
  await signIn(elsewhere.page, own);

  const { page } = await newPage({ javaScriptEnabled: false });
  await page.goto("/sign-in");
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await page.getByLabel("Email address").fill(own.email.toUpperCase());
  await page.getByRole("button", { name: "Send the link" }).click();
  await page.getByText("we have sent an email to it").waitFor();
  const mail = await openMail(page, { to: own.email, subject: "Choose a new password" });
  await mail.getByRole("link").click();
  await page.getByLabel("New password").fill("password123");
  await page.getByRole("button", { name: "Set password" }).click();
  await page.getByText("The new password is one of the most common passwords").waitFor();
  const password = randomUUID();
  await page.getByLabel("New password").fill(password);
  await page.getByRole("button", { name: "Set password" }).click();
  await page.getByText("Your password was changed. Sign in with the new password.").waitFor();

  await elsewhere.page.goto("/test/api-keys");
  await elsewhere.page.getByLabel("Password").waitFor();
  await submitSignIn(page, own);
  await page.getByText("The email address or the password is wrong.").waitFor();
  await signIn(page, { email: own.email, password });
  await openMail(page, { to: own.email, subject: "Your password was changed" });
});

describe("another site", () => {
  const forms = ["/live/api-keys", "/live/webhooks/secret/rotate", "/sign-out"];

  // Browsers send the cookie from another port of the same host too, so only the origin check protects the form there.
  test.each(["127.0.0.1", "localhost"].flatMap((host) => forms.map((path) => [host, path] as const)))(
    "on %s can't submit a form to %s, though the user is signed in",
    async (host, path) => {
      const { context, page } = await newPage();
      await signIn(page, organization);
      const fields = { name: "stolen", scopes: "entities:read", previous: "end" };
      const site = await startOtherSite(submittingPage(`${dashboardUrl}${path}`, fields));
      const evil = await context.newPage();
      const answered = evil.waitForResponse((response) => response.request().method() === "POST");
      await evil.goto(`http://${host}:${site}/`);
      expect((await answered).status()).toBe(403);
      await evil.getByText("This form did not come from the dashboard").waitFor();
      await page.goto("/live/api-keys");
      await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
      expect(await countOf(page.getByText("stolen"))).toBe(0);
    },
  );

  test("can't show the dashboard in a frame", async () => {
    const { context } = await newPage();
    const site = await startOtherSite(`<iframe src="${dashboardUrl}/sign-in"></iframe>`);
    const evil = await context.newPage();
    const answered = evil.waitForResponse((response) => response.url() === `${dashboardUrl}/sign-in`);
    await evil.goto(`http://localhost:${site}/`);
    expect((await answered).status()).toBe(200);
    await eventually(() => evil.frames()[1]?.url() === "chrome-error://chromewebdata/");
  });
});
