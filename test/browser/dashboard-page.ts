import { deepEqual } from "node:assert/strict";
import { atEnd } from "@vvs/testing";
import type { BrowserContext, Page } from "playwright-core";
import type { TestOrganization } from "../support/organization.ts";

/** Signs in on the sign-in page, and waits for the page that it leads to. */
export async function signIn(page: Page, organization: Pick<TestOrganization, "email" | "password">): Promise<void> {
  await page.goto("/sign-in");
  await page.getByLabel("Email address").fill(organization.email);
  await page.getByLabel("Password").fill(organization.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
}

/** Signs up with the form to which the sign-in page leads; the answer is in an email. */
export async function submitSignUp(
  page: Page,
  person: { organization: string; email: string; password: string },
): Promise<void> {
  await page.goto("/sign-in");
  await page.getByRole("link", { name: "Create an account" }).click();
  await page.getByLabel("Organization").fill(person.organization);
  await page.getByLabel("Email address").fill(person.email);
  await page.getByLabel("Password").fill(person.password);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByText("We have sent an email").waitFor();
}

/** Creates a key of the environment whose page is open; returns its value. */
export async function createKey(page: Page, name: string): Promise<string> {
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("heading", { name: "Your API key is ready" }).waitFor();
  return (await page.locator("#key-value").textContent())!;
}

/** A subscriber may take 15 s to answer, and the page waits for that. */
const TEST_EVENT_TIMEOUT_MS = 30_000;

/** Sends a test event with the open form, to `url` if it is given; waits for the delivery's page. */
export async function sendTestEvent(page: Page, url?: string): Promise<void> {
  if (url) await page.getByLabel("URL").fill(url);
  await page.getByRole("button", { name: "Send test event" }).click({ timeout: TEST_EVENT_TIMEOUT_MS });
  await page.getByRole("heading", { name: "Test event" }).waitFor({ timeout: TEST_EVENT_TIMEOUT_MS });
}

/** Expects at the end that the browser has reported nothing on any page: no refused script or style, no script error. */
export function expectNoComplaints(context: BrowserContext): void {
  const complaints: string[] = [];
  // The browser reports a page that answers 4xx as an error, but tests expect such pages.
  const isAnswer = (text: string) => /^Failed to load resource: the server responded with a status of 4/.test(text);
  context.on("console", (message) => {
    if (message.type() === "error" && !isAnswer(message.text())) complaints.push(message.text());
  });
  context.on("weberror", (error) => complaints.push(error.error().message));
  atEnd(() => deepEqual(complaints, []));
}
