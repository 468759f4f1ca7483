import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import type { Page } from "playwright-core";
import { sharedProduct } from "../support/product.ts";
import { expectSound, overflowPx } from "./appearance.ts";
import { countOf, newProfile } from "./browser.ts";
import { signedInUser } from "./signed-in-user.ts";

const { dashboardUrl } = sharedProduct();
const { browser, context, organization, page, secondPage } = await signedInUser();
const NAME = "Marlow Quarry Supplies LLC";
const ADDRESS = { line1: "88 Basalt Rd", city: "Reno", state: "NV", zip: "89501", country: "USA" };

const { body: created } = await organization.sandbox.post("/v1/entities", { legal_name: NAME, address: ADDRESS });

const answer = (on: Page) => on.getByRole("region", { name: "Can you pay this vendor?" });

async function verifyNow(on: Page): Promise<void> {
  await on.getByRole("button", { name: "Verify now" }).click();
  await on.getByText("The vendor was verified.").waitFor();
  await on.waitForLoadState();
}

/** Checks a receipt as somebody without an account does, without script. */
async function checkAsStranger(receipt: string): Promise<void> {
  const profile = await newProfile(browser, { baseURL: dashboardUrl, javaScriptEnabled: false });
  const stranger = await profile.newPage();
  await stranger.goto("/receipts");
  await stranger.getByLabel("Receipt").fill(receipt.replaceAll(/.{80}/g, "$&\n"));
  await stranger.getByRole("button", { name: "Check" }).click();
  await stranger.getByText("This receipt is genuine.").waitFor();
  await stranger.getByText("This proves nothing about a real vendor.").waitFor();
  await profile.close();

  const signedIn = await context.newPage();
  await signedIn.goto("/receipts");
  await expectSound(signedIn, "the page that checks receipts");
  await signedIn.getByLabel("Receipt").fill(receipt);
  await signedIn.getByRole("button", { name: "Check" }).click();
  await signedIn.getByText("This receipt is genuine.").waitFor();
  await expectSound(signedIn, "a receipt that was checked");
  await signedIn.getByLabel("Receipt").fill(`${receipt.slice(0, -8)}AAAAAAAA`);
  await signedIn.getByRole("button", { name: "Check" }).click();
  await signedIn.getByText("It proves nothing.").waitFor();
  await signedIn.close();
}

test("payables: a vendor that nobody checked is found, verified with what the form asks for, and certified", async () => {
  await page.goto("/test/vendors/search");
  await page.getByLabel("Name", { exact: true }).fill("marlow quary supplies");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("link", { name: NAME }).click();
  await answer(page).getByText("Not checked yet.").first().waitFor();
  await expectSound(page, "a vendor that was not checked");

  await page.getByRole("button", { name: "Verify now" }).click();
  await page.getByText("SAM.gov is asked by UEI or CAGE code.").waitFor();
  // Its UEI is that of a vendor in the registry, so that one is meant.
  await page.getByLabel("UEI", { exact: true }).fill("sandbx-actve1");
  await page.getByRole("button", { name: "Verify now" }).click();
  await page.getByText("An identifier is that of another vendor.").waitFor();
  expect(await page.getByLabel("UEI", { exact: true }).inputValue()).toBe("sandbx-actve1");
  await expectSound(page, "a refused verification");
  await page.getByRole("region", { name: "Verify or monitor" }).getByRole("link", { name: /^ent_/ }).click();
  await answer(page).getByText("Not checked yet.").first().waitFor();

  await verifyNow(page);
  const text = await answer(page).textContent();
  expect(text).toContain("Yes, based on the checks made: SAM.gov registration passed.");
  expect(text).toMatch(/Active in SAM\.gov until \d+ \w+ \d{4}\. No exclusions\. As of today\./);
  await expectSound(page, "a verified vendor");
  // Also a vendor that was verified before.
  await verifyNow(page);
  expect(await countOf(page.locator(".event h3", { hasText: "Verified" }))).toBe(2);

  await answer(page).getByRole("link", { name: "Certificate of SAM.gov registration" }).click();
  await page.getByRole("heading", { name: "Certificate of verification" }).waitFor();
  await expectSound(page, "a certificate");
  expect(await page.locator(".hash").textContent()).toMatch(/^[0-9a-f]{64}$/);
  const receipt = (await page.locator("pre.receipt").textContent())!;
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download the receipt" }).click(),
  ]);
  expect(readFileSync(await file.path(), "utf8")).toBe(receipt);
  await checkAsStranger(receipt);
});

test("a certificate fits on paper, A4 and Letter, and prints nothing but itself", async () => {
  await page.emulateMedia({ media: "print" });
  for (const selector of [".bar", ".environment", ".path", "button", ".unprinted"]) {
    for (const part of await page.locator(selector).all())
      expect([selector, await part.isVisible()]).toEqual([selector, false]);
  }
  // Width of the paper without its margins, at 96 dots per inch.
  for (const width of [680, 703]) {
    await page.setViewportSize({ width, height: 1_000 });
    expect([width, await overflowPx(page)]).toEqual([width, 0]);
  }
  for (const format of ["A4", "Letter"]) {
    const paper = (await page.pdf({ format })).toString("latin1");
    expect([format, paper.match(/\/Type\s*\/Page\b/g)?.length]).toEqual([format, 1]);
  }
  await page.emulateMedia({ media: "screen" });
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("a vendor with only a name and an address is verified without script by what is entered, which then stays known", async () => {
  const visitor = await secondPage();
  await visitor.goto(`/test/vendors/${created.id}`);
  await visitor.getByLabel("SAM.gov registration").uncheck();
  await visitor.getByLabel("TIN match").check();
  const tin = `9${Array.from({ length: 7 }, () => randomInt(10)).join("")}0`;
  await visitor.getByLabel("TIN", { exact: true }).fill(tin);
  await verifyNow(visitor);
  expect(await answer(visitor).textContent()).toMatch(
    /The name “.+” and the TIN \*{4}\d{4} match in the IRS’s records\./,
  );
  expect(await visitor.content()).not.toContain(tin);
  expect(await visitor.content()).toContain(`****${tin.slice(-4)}`);
  // The next verification asks for nothing more.
  expect(await visitor.getByLabel("TIN match").isChecked()).toBe(true);
  expect(await countOf(visitor.getByLabel("TIN", { exact: true }))).toBe(0);
  await verifyNow(visitor);

  await visitor.getByRole("button", { name: "Monitor", exact: true }).click();
  await visitor.getByText("The monitor was created.").waitFor();
  expect(await visitor.getByRole("region", { name: "Verify or monitor" }).textContent()).toContain("Monitored daily");
});

test("an id is copied with one click", async () => {
  await page.emulateMedia({ media: "screen" });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(`/test/vendors/${created.id}`);
  const copy = page.getByRole("button", { name: `Copy ${created.id}` });
  await copy.click();
  await page.getByText("Copied").waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(created.id);
});
