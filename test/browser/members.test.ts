import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { Page } from "playwright-core";
import { withAccounts } from "../../deploy/local/seed.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { expectSound } from "./appearance.ts";
import { countOf, launchBrowser, newProfile } from "./browser.ts";
import { expectNoComplaints, signIn } from "./dashboard-page.ts";
import { openMail } from "./mailbox-page.ts";

const { dashboardUrl, environment } = sharedProduct();
const grace = { email: `grace-${randomUUID()}@test.example`, password: randomUUID() };

const [browser, organization] = await Promise.all([launchBrowser(), createOrganization()]);

async function newPage() {
  const context = await newProfile(browser, { baseURL: dashboardUrl });
  expectNoComplaints(context);
  return { context, page: await context.newPage() };
}

/** Makes the owner's last password entry too old to manage members. */
async function passwordGivenLongAgo(): Promise<void> {
  await withAccounts(environment, async ({ store }) => {
    const authenticated_at = new Date(Date.now() - 16 * 60_000);
    await store.sessions.updateMany({ organization_id: organization.id }, { $set: { authenticated_at } });
  });
}

/** Opens the members page through its links, as users do. */
async function openMembers(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Organization", exact: true }).click();
  await page.getByRole("link", { name: "Members", exact: true }).click();
  await page.getByRole("heading", { name: "Members", exact: true }).waitFor();
}

test("owner: a member invited by email joins and signs in, gets another role and is removed, and the audit log says all of it in plain words", async () => {
  const [owner, member] = [await newPage(), await newPage()];
  await signIn(owner.page, organization);
  await openMembers(owner.page);
  await owner.page.getByLabel("Email address").fill(grace.email);
  await owner.page.getByLabel("Developer").check();
  await owner.page.getByRole("button", { name: "Send invitation" }).click();
  await owner.page.getByText("The invitation was sent.").waitFor();
  await expectSound(owner.page, "an invitation");

  const mail = await openMail(member.page, {
    to: grace.email,
    subject: "You have been invited to Vendor Verification",
  });
  await mail.getByRole("link").click();
  expect(await member.page.getByLabel("Email address").inputValue()).toBe(grace.email);
  await expectSound(member.page, "the page of an invitation");
  await member.page.getByLabel("Choose a password").fill(grace.password);
  await member.page.getByRole("button", { name: "Join" }).click();
  await member.page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  await expectSound(member.page, "the overview of a new member");
  await member.page.getByRole("button", { name: "Sign out" }).click();
  await member.page.getByText("You have signed out.").waitFor();
  await signIn(member.page, grace);
  await member.page.goto("/test/api-keys");
  await member.page.getByLabel("Name").fill("Of a developer");
  expect(await member.page.getByRole("link", { name: "Audit log" }).count()).toBe(0);

  await passwordGivenLongAgo();
  await openMembers(owner.page);
  await owner.page.getByRole("link", { name: `Manage ${grace.email}` }).click();
  await owner.page.getByRole("heading", { name: "Confirm your password" }).waitFor();
  await owner.page.getByLabel("Password").fill(organization.password);
  await owner.page.getByRole("button", { name: "Confirm" }).click();
  await owner.page.getByText("Your identity is confirmed.").waitFor();
  await expectSound(owner.page, "a member");
  await owner.page.getByLabel("Read-only").check();
  await owner.page.getByRole("button", { name: "Change role" }).click();
  await owner.page.getByText("The role was changed.").waitFor();

  // The form that is still open is refused, and no new form is offered.
  await member.page.getByRole("button", { name: "Create key" }).click();
  await member.page.getByRole("heading", { name: "Your role does not allow this" }).waitFor();
  await member.page.goto("/test/api-keys");
  await member.page.getByText("Owners and developers can create, roll and revoke API keys.").waitFor();
  expect(await member.page.getByRole("button", { name: "Create key" }).count()).toBe(0);
  for (const path of ["/test/organization/audit-log", "/test/webhooks/test"]) {
    expect((await member.page.request.get(path)).status()).toBe(403);
  }

  await owner.page.getByRole("link", { name: `Manage ${grace.email}` }).click();
  await owner.page.getByRole("link", { name: `Remove ${grace.email}` }).click();
  await expectSound(owner.page, "a removal, not confirmed yet");
  await owner.page.getByRole("button", { name: "Remove member" }).click();
  await owner.page.getByText("The member was removed").waitFor();
  await member.page.goto("/test/overview");
  await member.page.getByRole("heading", { name: "Sign in" }).waitFor();

  await owner.page.getByRole("link", { name: "Audit log", exact: true }).click();
  await owner.page.waitForLoadState();
  const entries = await owner.page.locator("tbody tr").allInnerTexts();
  const lines = entries.map((text) => text.replaceAll(/\s+/g, " "));
  for (const [who, what] of [
    [organization.email, `removed ${grace.email}`],
    [organization.email, `changed the role of ${grace.email} from Developer, to Read-only`],
    [grace.email, "signed in"],
    [grace.email, "accepted an invitation"],
    [grace.email, "joined the organization"],
    [organization.email, `sent an invitation to ${grace.email} role Developer`],
  ] as const) {
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`${who}.*${what}.*127\\.0\\.0\\.1`)));
  }
  await owner.page.getByLabel("Action", { exact: true }).selectOption({ label: "changed the role" });
  await owner.page.getByRole("heading", { name: "Matching actions" }).waitFor();
  expect(await countOf(owner.page.locator("tbody tr"))).toBe(1);
  await expectSound(owner.page, "the audit log");
});
