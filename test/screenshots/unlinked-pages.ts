import type { Page } from "playwright-core";
import { SAM_GOV_CALLS_PATH } from "../../services/dashboard/src/providers/sam-gov-calls.ts";
import { createKey } from "../browser/dashboard-page.ts";
import { openMail } from "../browser/mailbox-page.ts";
import type { TestOrganization } from "../support/organization.ts";
import type { FoundPage } from "./pages.ts";

const INVITED = "rosa.delgado@northgate-foods.example";

/** Returns the pages that no link leads to, and those that look different after a step of the user. */
export async function unlinkedPages({ sandbox, live }: TestOrganization): Promise<FoundPage[]> {
  const identifiers = (uei: string) => ({ identifiers: { uei } });
  const changing = (await sandbox.post("/v1/entities/lookup", identifiers("SANDBXCHNGE1"))).body.id;
  const active = (await live.post("/v1/entities/lookup", identifiers("ZZNRTHWND001"))).body.id;
  const { verifications } = (await live.get(`/v1/verifications?entity_id=${active}`)).body;
  const today = new Date().toISOString().slice(0, 10);
  const month = `?from=${today.slice(0, 8)}01&to=${today}`;
  const certificate = `/live/verifications/${verifications[0].id}/certificate`;
  return [
    { name: "menu", path: "/test/overview", open: openMenu },
    { name: "test-vendor-monitored", path: `/test/vendors/${changing}` },
    { name: "test-vendor-details", path: `/test/vendors/${changing}`, open: openDetails },
    { name: "test-vendor-versions", path: `/test/vendors/${changing}?show=versions` },
    { name: "live-vendor-passed", path: `/live/vendors/${active}` },
    { name: "test-vendors-failed", path: "/test/vendors?show=failed" },
    { name: "test-vendors-none", path: "/test/vendors?show=expiring-30" },
    { name: "test-search-results", path: "/test/vendors/search?legal_name=sandbox+vendor", open: openDetails },
    { name: "test-search-nothing", path: "/test/vendors/search?legal_name=zzyzx+qqq" },
    { name: "test-find-refused", path: "/test/overview", open: (page) => find(page, "123-45-6789") },
    { name: "live-screening-month", path: `/live/screening${month}` },
    { name: "live-certificate-passed", path: certificate },
    { name: "test-delivery-sent", path: "/test/webhooks/deliveries?status=delivered", open: openDelivery },
    { name: "test-api-keys-created", path: "/test/api-keys", open: (page) => createKey(page, "ERP").then(() => {}) },
    { name: "test-requests-filtered", path: `/test/requests?from=${today}T00:00&to=${today}T23:59` },
    { name: "test-monitors-filter-refused", path: "/test/monitors?entity_id=x" },
    { name: "test-replay-counted", path: `/test/webhooks/replay?since=${today}T00:00` },
    { name: "live-confirm-password", path: "/live/security/confirm" },
    { name: "test-missing-vendor", path: `/test/vendors/ent_${"0".repeat(26)}` },
    { name: "test-missing-page", path: "/test/nothing-here" },
    { name: "live-operators", path: SAM_GOV_CALLS_PATH },
    { name: "print-vendor", path: `/live/vendors/${active}`, isPrinted: true },
    { name: "print-vendors", path: "/live/vendors", isPrinted: true },
    { name: "print-certificate", path: certificate, isPrinted: true },
    { name: "print-screening", path: `/live/screening${month}`, isPrinted: true },
    { name: "print-overview", path: "/test/overview", isPrinted: true },
    { name: "print-usage", path: "/test/usage", isPrinted: true },
    { name: "test-members-invited", path: "/test/organization/members", open: invite },
    { name: "invitation", path: "/mailbox", open: openInvitation },
  ];
}

async function openDetails(page: Page): Promise<void> {
  await page.evaluate(`for (const each of document.querySelectorAll("main details")) each.open = true`);
}

async function openMenu(page: Page): Promise<void> {
  await page.evaluate(`document.querySelector("details.menu").open = true`);
}

async function openDelivery(page: Page): Promise<void> {
  await page.locator("tbody th a").first().click();
  await page.getByRole("heading", { name: "How each attempt is signed" }).waitFor();
  await openDetails(page);
}

async function find(page: Page, text: string): Promise<void> {
  await page.getByLabel("Find anything").fill(text);
  await page.getByLabel("Find anything").press("Enter");
  await page.getByRole("heading", { name: "Nothing was searched for" }).waitFor();
}

async function invite(page: Page): Promise<void> {
  await page.getByLabel("Email address").fill(INVITED);
  await page.getByLabel("Payables").check();
  await page.getByRole("button", { name: "Send invitation" }).click();
  await page.getByText("The invitation was sent.").waitFor();
}

async function openInvitation(page: Page): Promise<void> {
  const mail = await openMail(page, { to: INVITED, subject: "You have been invited to Vendor Verification" });
  await mail.getByRole("link").click();
  await page.getByLabel("Choose a password").waitFor();
}
