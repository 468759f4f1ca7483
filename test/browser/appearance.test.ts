import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Page } from "playwright-core";
import { withAccounts } from "../../deploy/local/seed.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { axeFindings, expectSound, lowContrasts, overflowPx, unlabelled } from "./appearance.ts";
import { launchBrowser, newProfile, openUntil } from "./browser.ts";
import { createKey, sendTestEvent, signIn } from "./dashboard-page.ts";
import { openMail } from "./mailbox-page.ts";

const { dashboardUrl } = sharedProduct();
const newcomer = `${"unbroken".repeat(7)}.${randomUUID()}@new.example`;

const [browser, organization] = await Promise.all([launchBrowser(), createOrganization()]);

/** All kinds of pages, each with the steps that open it. */
const pages: readonly [name: string, open: (page: Page) => Promise<unknown>][] = [
  ["an empty overview", (page) => page.goto("/live/overview")],
  ["no monitors", (page) => page.goto("/live/monitors")],
  ["a refused filter of monitors", (page) => page.goto("/test/monitors?entity_id=x&outcome=x&status=x")],
  [
    "a vendor",
    async (page) => {
      const found = await organization.sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } });
      await page.goto(`/test/vendors/${found.body.id}`);
    },
  ],
  [
    "a refused monitor",
    async (page) => {
      await page.getByLabel("SAM.gov registration").uncheck();
      await page.getByLabel("Webhook URL").fill("https://acme.example/hook");
      await page.getByRole("button", { name: "Monitor", exact: true }).click();
      await page.getByText("Nothing was done.").waitFor();
      await page.getByLabel("SAM.gov registration").check();
    },
  ],
  [
    "a monitor that found a change",
    async (page) => {
      // Nothing listens on port 1.
      await page.getByLabel("Webhook URL").fill(`http://127.0.0.1:1/${"unbroken".repeat(30)}`);
      await page.getByLabel("How often").selectOption("hourly");
      await page.getByRole("button", { name: "Monitor", exact: true }).click();
      await page.getByText("The monitor was created.").waitFor();
      await page.getByRole("region", { name: "Verify or monitor" }).getByRole("link", { name: /^mon_/ }).click();
      await page.getByRole("heading", { name: "Changes" }).waitFor();
      const monitor = page.url();
      await openUntil(monitor, page.locator(".event"));
    },
  ],
  [
    "its refused change",
    async (page) => {
      await page.getByRole("link", { name: "Change", exact: true }).click();
      await page.getByLabel("Webhook URL").fill("ftp://acme.example");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Nothing was changed").waitFor();
    },
  ],
  [
    "its cancellation, not confirmed yet",
    async (page) => {
      await page.getByRole("link", { name: "Go back" }).click();
      await page.getByRole("link", { name: "Cancel this monitor" }).click();
    },
  ],
  ["monitors", (page) => page.goto("/test/monitors")],
  [
    "a canceled monitor",
    async (page) => {
      await page.getByRole("rowheader").getByRole("link").first().click();
      await page.getByRole("link", { name: "Cancel this monitor" }).click();
      await page.getByRole("button", { name: "Cancel monitor" }).click();
      await page.getByText("The monitor was canceled.").waitFor();
    },
  ],
  ["an overview", (page) => page.goto("/test/overview")],
  [
    "the help for keyboard shortcuts",
    async (page) => {
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    },
  ],
  ["no usage yet", (page) => page.goto("/live/usage")],
  [
    "usage with its numbers open",
    async (page) => {
      await organization.sandbox.get("/v1/monitors");
      // Gateways report every ten seconds.
      await openUntil("/test/usage?range=day", page.getByText("Requests by hour"));
      for (const summary of await page.locator("main summary").all()) await summary.click();
    },
  ],
  ["no requests yet", (page) => page.goto("/live/requests")],
  [
    "requests, one with an id of the longest kind",
    async (page) => {
      const { body } = await organization.sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } });
      const headers = { "x-request-id": "unbroken".repeat(16) };
      await organization.sandbox.get(`/v1/entities/${body.id}/snapshots?limit=0`, { headers });
      // Gateways report every five seconds.
      await openUntil("/test/requests", page.getByText("unbroken"));
    },
  ],
  ["a refused filter of requests", (page) => page.goto("/test/requests?outcome=x&key=x&operation=x&from=x&to=x")],
  ["plan and limits", (page) => page.goto("/test/organization")],
  ["members", (page) => page.goto("/live/organization/members")],
  ["a member who is the last owner", (page) => page.getByRole("link", { name: "Manage" }).click()],
  ["the last owner, who can’t leave", (page) => page.goto("/live/organization/leave")],
  ["the audit log", (page) => page.goto("/test/organization/audit-log")],
  ["a refused filter of the audit log", (page) => page.goto("/test/organization/audit-log?actor=x&action=x&from=x")],
  ["the user’s security", (page) => page.goto("/live/security")],
  [
    "a refused new password",
    async (page) => {
      await page.goto("/test/security");
      await page.getByLabel("Current password").fill("a wrong password");
      await page.getByLabel("New password", { exact: true }).fill("another password");
      await page.getByLabel("Repeat the new password").fill("another password");
      await page.getByRole("button", { name: "Change password" }).click();
      await page.getByText("This is not your password.").waitFor();
    },
  ],
  [
    "an authenticator app set up with a wrong code",
    async (page) => {
      await page.goto("/test/security/two-factor");
      await page.getByLabel("Code", { exact: true }).fill("000000");
      await page.getByRole("button", { name: "Turn on" }).click();
      await page.getByText("This is not the code that the app shows now.").waitFor();
    },
  ],
  ["the second step of a sign-in", (page) => page.goto("/sign-in/code")],
  [
    "a password confirmation with a wrong password",
    async (page) => {
      await page.goto("/live/security/confirm?next=%2Flive%2Fwebhooks");
      await page.getByLabel("Password").fill("a wrong password");
      await page.getByRole("button", { name: "Confirm" }).click();
      await page.getByText("This is not your password.").waitFor();
    },
  ],
  ["the keys", (page) => page.goto("/live/api-keys")],
  [
    "the keys with scopes open and an unbroken name",
    async (page) => {
      await page.goto("/test/api-keys");
      await createKey(page, "W".repeat(100));
      await page.goto("/test/api-keys");
      await page.getByText("Scopes: what the key can do").click();
    },
  ],
  [
    "a new key",
    async (page) => {
      await page.goto("/test/api-keys");
      await createKey(page, "Looked at");
    },
  ],
  [
    "a revocation",
    async (page) => {
      await page.goto("/test/api-keys");
      await page.getByRole("link", { name: "Revoke" }).first().click();
    },
  ],
  [
    "a key that was revoked",
    async (page) => {
      await page.getByRole("button", { name: "Revoke key" }).click();
      await page.getByText("The API key was revoked.").waitFor();
    },
  ],
  [
    "the secret shown, with all forms open",
    async (page) => {
      await page.goto("/test/webhooks");
      await page.getByText("Rotate: replace the secret with a new random one").click();
      await page.getByRole("button", { name: "Rotate secret" }).click();
      await page.getByRole("button", { name: "Show" }).click();
      for (const summary of await page.locator("main summary").all()) await summary.click();
    },
  ],
  [
    "a refused secret",
    async (page) => {
      await page.goto("/live/webhooks");
      await page.getByText("Set your own secret").click();
      await page.getByLabel("Secret", { exact: true }).fill("x");
      await page.getByRole("button", { name: "Set secret" }).click();
      await page.getByText("Nothing was changed.").waitFor();
    },
  ],
  [
    "a test event that did not arrive",
    async (page) => {
      await page.goto("/test/webhooks/test");
      // Nothing listens on port 1.
      await sendTestEvent(page, `http://127.0.0.1:1/${"unbroken".repeat(30)}`);
    },
  ],
  [
    "a refused test event",
    async (page) => {
      await page.goto("/live/webhooks/test?url=ftp%3A%2F%2Facme.example");
      await page.getByRole("button", { name: "Send test event" }).click();
      await page.getByText("Nothing was sent.").waitFor();
    },
  ],
  ["webhooks with deliveries", (page) => page.goto("/test/webhooks")],
  ["deliveries", (page) => page.goto("/test/webhooks/deliveries?status=failed")],
  ["a refused filter of deliveries", (page) => page.goto("/test/webhooks/deliveries?monitor_id=x&url=x&from=x&to=x")],
  ["a replay of many", (page) => page.goto("/test/webhooks/replay")],
  ["a replay of many, counted", (page) => page.goto("/test/webhooks/replay?since=2026-01-01T00%3A00")],
  [
    "a refused verification",
    async (page) => {
      await page.goto("/live/verifications/new");
      await page.getByLabel("UEI").fill("x");
      await page.getByLabel("TIN", { exact: true }).fill("x");
      await page.getByLabel("SAM.gov registration").uncheck();
      await page.getByRole("button", { name: "Run verification" }).click();
      await page.getByText("No verification was run").waitFor();
    },
  ],
  [
    "a verification",
    async (page) => {
      await page.goto("/test/verifications/new");
      await page.getByLabel("UEI").fill("SANDBXFALLB1");
      await page.getByLabel("TIN match").check();
      await page.getByRole("button", { name: "Run verification" }).click();
      await page.getByRole("heading", { name: "Results" }).waitFor();
    },
  ],
  [
    "its complete evidence",
    async (page) => {
      await page.getByRole("link", { name: "Evidence of SAM.gov registration" }).click();
      await page.getByText("As received", { exact: true }).click();
    },
  ],
  ["the verifications", (page) => page.goto("/test/verifications")],
  [
    "a refused filter",
    async (page) => {
      await page.getByLabel("Vendor ID").fill("x");
      await page.getByLabel("Vendor ID").press("Enter");
      await page.getByText("Show all").waitFor();
    },
  ],
  ["the sandbox's providers", (page) => page.goto("/test/providers")],
  ["the live providers", (page) => page.goto("/live/providers")],
  [
    "SAM.gov’s calls, which only an operator sees",
    async (page) => {
      const path = "/live/providers/sam_gov_api/calls";
      expect((await page.goto(path))!.status()).toBe(404);
      const { email } = organization;
      await withAccounts(sharedProduct().environment, ({ operatedUsers }) =>
        operatedUsers.setOperator({ actor: "test", requestId: "test" }, { email, isOperator: true }),
      );
      await page.goto(path);
      await page.getByRole("heading", { name: "The last 30 days" }).waitFor();
    },
  ],
  ["Page not found", (page) => page.goto("/nothing")],
  ["single sign-on", (page) => page.goto("/sign-in/sso")],
  ["the sign-in", (page) => page.goto("/sign-in")],
  [
    "a refused sign-up",
    async (page) => {
      await page.goto("/sign-up");
      await page.getByLabel("Organization").fill("W".repeat(200));
      await page.getByLabel("Email address").fill(newcomer);
      await page.getByLabel("Password").fill("password123");
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByText("is one of the most common passwords").waitFor();
    },
  ],
  [
    "a sign-up",
    async (page) => {
      await page.getByLabel("Password").fill("unlike any other");
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByText("We have sent an email").waitFor();
    },
  ],
  ["the local mailbox", (page) => openMail(page, { to: newcomer, subject: "Confirm your email address" })],
  [
    "a sign-up confirmed with a wrong password",
    async (page) => {
      await page.getByRole("article").filter({ hasText: newcomer }).getByRole("link").click();
      await page.getByLabel("Password").fill("a wrong password");
      await page.getByRole("button", { name: "Confirm and sign in" }).click();
      await page.getByText("This is not the password").waitFor();
    },
  ],
  ["a sign-up link that no longer works", (page) => page.goto("/sign-up/confirm?token=x")],
  [
    "a forgotten password",
    async (page) => {
      await page.goto("/forgot-password");
      await page.getByLabel("Email address").fill(organization.email);
      await page.getByRole("button", { name: "Send the link" }).click();
      await page.getByRole("heading", { name: "Check your email" }).waitFor();
    },
  ],
  [
    "a refused new password by email",
    async (page) => {
      const mail = await openMail(page, { to: organization.email, subject: "Choose a new password" });
      await mail.getByRole("link").click();
      await page.getByLabel("New password").fill("password123");
      await page.getByRole("button", { name: "Set password" }).click();
      await page.getByText("is one of the most common passwords").waitFor();
    },
  ],
  ["a reset link that no longer works", (page) => page.goto("/reset-password?token=x")],
];

describe("axe reports nothing, texts have enough contrast in light and dark, fields have labels, pages fit windows of 360, 768 and 1440 px, and none takes 100 kB or more", () => {
  let page: Page;
  beforeAll(async () => {
    const context = await newProfile(browser, { baseURL: dashboardUrl });
    page = await context.newPage();
    await signIn(page, organization);
  });

  // These run in order: some start on the page where the previous one ended.
  test.each(pages)("%s", async (_name, open) => {
    await open(page);
    await expectSound(page);
  });
});

test("these checks find the problems that they look for", async () => {
  const context = await newProfile(browser, { baseURL: dashboardUrl });
  const page = await context.newPage();
  await page.goto("/sign-in");
  await page.evaluate(`document.querySelector("h1").style.color = "#999"`);
  await page.evaluate(`document.querySelector("label").remove()`);
  await page.evaluate(`document.querySelector("main").style.minWidth = "9999px"`);
  expect(await lowContrasts(page)).toEqual(["Sign in: 2.85"]);
  expect(await unlabelled(page)).toHaveLength(1);
  expect(await axeFindings(page)).toContainEqual(expect.stringContaining("label: Form elements must have labels"));
  expect(await overflowPx(page)).toBeGreaterThan(5_000);
  await page.route("**/style.css", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `${await response.text()}\n/*${"x".repeat(100_000)}*/` });
  });
  await page.reload();
  await expect(expectSound(page)).rejects.toThrow("isLight");
});

test("with the keyboard the first Tab stop skips the navigation, and the focus is visible", async () => {
  const context = await newProfile(browser, { baseURL: dashboardUrl });
  const page = await context.newPage();
  await signIn(page, organization);
  await page.goto("/test/api-keys");
  await page.keyboard.press("Tab");
  expect(await page.evaluate<string>("document.activeElement.textContent")).toBe("Skip to content");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  expect(await page.evaluate<string>("document.activeElement.id")).toBe("name");
  expect(await page.evaluate<string>("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
});
