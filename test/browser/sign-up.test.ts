import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Browser, Page } from "playwright-core";
import { createApi } from "../support/api.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { launchBrowser, newProfile } from "./browser.ts";
import { collectComplaints, createKey, signIn, submitSignUp } from "./dashboard-page.ts";
import { openMail } from "./mailbox-page.ts";

const { baseUrl, dashboardUrl } = sharedProduct();
let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

async function newPage(options: { javaScriptEnabled?: boolean } = {}) {
  const context = await newProfile(browser, { baseURL: dashboardUrl, ...options });
  return { context, page: await context.newPage(), complaints: collectComplaints(context) };
}

async function submitSignIn(page: Page, person: { email: string; password: string }) {
  await page.goto("/sign-in");
  await page.getByLabel("Email address").fill(person.email);
  await page.getByLabel("Password").fill(person.password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("a new user confirms their email address, creates a key and calls the API with it", async () => {
  const { context, page, complaints } = await newPage();
  const person = { organization: "Nova Freight", email: `${randomUUID()}@new.example`, password: randomUUID() };
  await submitSignUp(page, person);

  await submitSignIn(page, person);
  await page.getByText("You are not signed in, because this email address is not confirmed yet.").waitFor();
  await page.getByRole("button", { name: "Send the email again" }).click();
  await page.getByText("we have sent another email").waitFor();

  const mail = await openMail(page, { to: person.email, subject: "Confirm your email address" });
  await mail.getByRole("link").click();
  await page.getByText("You are creating the organization Nova Freight").waitFor();
  await page.getByLabel("Password").fill("not the password");
  await page.getByRole("button", { name: "Confirm and sign in" }).click();
  await page.getByText("This is not the password you signed up with.").waitFor();
  await page.getByLabel("Password").fill(person.password);
  await page.getByRole("button", { name: "Confirm and sign in" }).click();
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  await page.locator(".organization", { hasText: "Nova Freight" }).waitFor();

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You have signed out.").waitFor();
  await signIn(page, person);
  await page.goto("/test/api-keys");
  const api = createApi(baseUrl, await createKey(page, "First"));
  const verified = await api.post("/v1/verify", {
    identifiers: { uei: "SANDBXACTVE1" },
    checks: ["sam_registration"],
    mode: "realtime",
  });
  expect({ status: verified.status, result: verified.body.overall_result }).toEqual({ status: 200, result: "pass" });

  const again = await openMail(page, { to: person.email, subject: "Confirm your email address" });
  await again.getByRole("link").click();
  await page.getByText("This link no longer works").waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test("without script: a forgotten password is reset by email, and every other session ends", async () => {
  const organization = await createOrganization();
  const elsewhere = await newPage();
  await signIn(elsewhere.page, organization);

  const { context, page } = await newPage({ javaScriptEnabled: false });
  await page.goto("/sign-in");
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await page.getByLabel("Email address").fill(organization.email.toUpperCase());
  await page.getByRole("button", { name: "Send the link" }).click();
  await page.getByText("we have sent an email to it").waitFor();
  const mail = await openMail(page, { to: organization.email, subject: "Choose a new password" });
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
  await submitSignIn(page, organization);
  await page.getByText("The email address or the password is wrong.").waitFor();
  await signIn(page, { email: organization.email, password });
  await openMail(page, { to: organization.email, subject: "Your password was changed" });
  await Promise.all([context.close(), elsewhere.context.close()]);
});

test("signing up with the address of an existing account reveals nothing, and its owner gets an email", async () => {
  const organization = await createOrganization();
  const { context, page } = await newPage();
  await submitSignUp(page, { organization: "Another", email: organization.email, password: randomUUID() });
  const mail = await openMail(page, { to: organization.email, subject: "You already have an account" });
  expect(await mail.getByRole("link").evaluateAll((links) => links.map((link) => link.getAttribute("href")))).toEqual([
    `${dashboardUrl}/sign-in`,
    `${dashboardUrl}/forgot-password`,
  ]);
  await signIn(page, organization);
  await context.close();
});
