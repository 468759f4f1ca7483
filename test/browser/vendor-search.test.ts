import { expect, test } from "@jest/globals";
import type { Page } from "playwright-core";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { expectSound } from "./appearance.ts";
import { countOf, newProfile } from "./browser.ts";
import { signIn } from "./dashboard-page.ts";
import { signedInUser } from "./signed-in-user.ts";

const { dashboardUrl } = sharedProduct();
const { browser, organization, page, secondPage } = await signedInUser();

const { body: created } = await organization.sandbox.post("/v1/entities", {
  legal_name: "Zephyrine Kestrel Sawmill LLC",
  identifiers: { duns: "198765432" },
  address: { line1: "4417 Juniper St Ste 9", city: "Boise", state: "ID", zip: "83702", country: "USA" },
});

async function search(on: Page, fields: Readonly<Record<string, string>>, mode = "similar vendors"): Promise<void> {
  await on.goto("/test/vendors/search");
  for (const [label, value] of Object.entries(fields)) await on.getByLabel(label, { exact: true }).fill(value);
  await on.getByLabel(mode).check();
  await on.getByRole("button", { name: "Search" }).click();
  await on.getByRole("heading", { name: /^\d+ vendor/ }).waitFor();
}

test("a vendor is found without script by a mistyped name and address, and each part of the match is explained", async () => {
  const visitor = await secondPage();
  await visitor.getByRole("link", { name: "Test", exact: true }).click();
  await visitor.getByRole("link", { name: "Vendors" }).click();
  await search(visitor, {
    Name: "kestrel zephyrine sawmil",
    "Address, on one line": "Attn: Office, 4419 Junipr Street, Boise, Idaho 83702",
  });
  expect(new URL(visitor.url()).searchParams.get("legal_name")).toBe("kestrel zephyrine sawmil");
  const match = visitor.locator(".match").filter({ hasText: "Zephyrine Kestrel Sawmill LLC" });
  await match.getByText("Why").click();
  const rows = match.locator("tbody tr");
  expect(await countOf(rows)).toBe(2);
  expect(await rows.nth(0).textContent()).toMatch(/Name.*agrees.*\+0\./s);
  const address = await rows.nth(1).textContent();
  expect(address).toMatch(/different house number/);
  expect(address).toMatch(/same street.*same city.*same ZIP code/s);
});

test("a TIN that is searched for appears in no URL and on no page", async () => {
  await search(page, { TIN: "91-2345678" });
  expect(page.url()).not.toContain("2345678");
  expect(await page.content()).not.toContain("2345678");
  await page.getByRole("heading", { name: "0 vendors" }).waitFor();
});

test("a vendor's page shows its versions with their changes and the verified chain, and its verifications", async () => {
  const { sandbox } = organization;
  const check = { checks: ["sam_registration"], mode: "realtime" };
  // An identifier that is supplied later creates the next version.
  await sandbox.post("/v1/verify", { identifiers: { duns: "198765432", cage: "7ZKS1" }, ...check });
  await page.goto(`/test/vendors/${created.id}`);
  const versions = page.locator(".version");
  expect(await countOf(versions)).toBe(2);
  expect(await countOf(page.getByText("chain verified"))).toBe(2);
  expect(await versions.first().locator("tbody tr").textContent()).toMatch(/CAGE code.*7ZKS1/s);
  expect(await versions.last().textContent()).toContain("Created by an API key");
  expect(await page.locator("dl").first().textContent()).toContain("4417 Juniper St Ste 9, Boise, ID 83702, USA");
  await page.getByRole("link", { name: "Verification of SAM.gov registration" }).click();
  await page.getByRole("heading", { name: "Results" }).waitFor();
  await page.getByRole("link", { name: "Zephyrine Kestrel Sawmill LLC" }).click();
  await page.getByRole("heading", { name: "History" }).waitFor();
});

test("another organization can neither find nor open the vendor", async () => {
  const other = await createOrganization();
  const profile = await newProfile(browser, { baseURL: dashboardUrl });
  const visitor = await profile.newPage();
  await signIn(visitor, other);
  await search(visitor, { Name: "Zephyrine Kestrel Sawmill LLC" });
  expect(await visitor.content()).not.toContain(created.id);
  expect((await visitor.goto(`/test/vendors/${created.id}`))!.status()).toBe(404);
});

test("the form, a refused one and an explained match are readable and usable at any width", async () => {
  await page.goto("/test/vendors/search");
  await expectSound(page, "the search for vendors");
  await page.getByLabel("Name", { exact: true }).fill("Drip 91-2345678");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByText("must not contain a TIN").waitFor();
  await expectSound(page, "a refused search");
  const typed = { Name: "zephyrine kestrel sawmil", "Address, on one line": "4419 Juniper St, Boise ID 83702" };
  for (const open of [() => search(page, typed), () => page.goto(`/test/vendors/${created.id}`)]) {
    await open();
    for (const summary of await page.locator("main summary").all()) await summary.click();
    await expectSound(page);
  }
});
