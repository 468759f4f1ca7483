import { createHash, randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import type { Page } from "playwright-core";
import { everyLog, withoutTimes } from "../support/everything.ts";
import { sharedProduct } from "../support/product.ts";
import { countOf, textsOf } from "./browser.ts";
import { signedInUser } from "./signed-in-user.ts";

const { logDir, spansFile } = sharedProduct();
const { organization, page, secondPage } = await signedInUser();

/** Returns a TIN that occurs nowhere else, with the last digit that decides the sandbox's answer. */
const tinEnding = (last: number) => `9${Array.from({ length: 7 }, () => randomInt(10)).join("")}${last}`;

async function openForm(on: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  await on.goto("/test/verifications");
  await on.getByRole("link", { name: "Run a verification" }).click();
  for (const [label, value] of Object.entries(fields)) await on.getByLabel(label, { exact: true }).fill(value);
}

const send = (on: Page) => on.getByRole("button", { name: "Run verification" }).click();
const fact = (on: Page, label: string) => on.locator("dl > div").filter({ hasText: label }).locator("dd").first();

test("a verification runs without script, and its evidence shows each attempt and the content that matches the hash", async () => {
  const visitor = await secondPage();
  await openForm(visitor, { UEI: " sandbx-fallb1 " });
  await send(visitor);
  await visitor.getByRole("heading", { name: "Results" }).waitFor();
  expect(new URL(visitor.url()).pathname).toMatch(/^\/test\/verifications\/ver_/);
  expect(await fact(visitor, "Requested by").textContent()).toContain(organization.email);
  expect(await fact(visitor, "Source").textContent()).toContain("Second sandbox provider");

  await visitor.getByRole("link", { name: "Evidence of SAM.gov registration" }).click();
  await visitor.getByRole("heading", { name: "2 attempts" }).waitFor();
  const attempts = await textsOf(visitor.locator("tbody tr"));
  expect(attempts).toHaveLength(2);
  expect(attempts[0]).toMatch(/sandbox_primary.*no answer.*http_503.* ms/s);
  expect(attempts[1]).toMatch(/sandbox_secondary.*pass.* ms/s);
  const hash = await fact(visitor, "SHA-256").locator("code").textContent();
  const [download] = await Promise.all([
    visitor.waitForEvent("download"),
    visitor.getByRole("link", { name: "Download as received" }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^evd_\w+\.txt$/);
  const content = await readFile(await download.path());
  expect(createHash("sha256").update(content).digest("hex")).toBe(hash);
  const indented = await visitor.locator("#indented").textContent();
  expect(JSON.parse(indented!)).toEqual(JSON.parse(content.toString("utf8")));
});

test("a TIN is in no page, log or trace, whether its form is refused or accepted", async () => {
  const tin = tinEnding(0);
  const written = `${tin.slice(0, 2)}-${tin.slice(2)}`;
  const sources: Record<string, string> = {};
  const keepSource = async () => {
    sources[page.url().replace(written, "…")] = await page.content();
  };

  await page.goto("/test/verifications");
  await page.getByLabel("Vendor ID").fill(written);
  await page.getByLabel("Vendor ID").press("Enter");
  await page.getByText("Enter a vendor ID").waitFor();
  await keepSource();

  await openForm(page, { TIN: written, "Legal name": `Drip ${written}` });
  await send(page);
  await page.getByText("No verification was run").waitFor();
  await keepSource();
  expect(await page.getByLabel("TIN", { exact: true }).inputValue()).toBe("");
  expect(await page.getByLabel("Legal name").getAttribute("aria-invalid")).toBe("true");

  await page.getByLabel("TIN", { exact: true }).fill(written);
  await page.getByLabel("Legal name").fill("Drip Inc");
  await page.getByLabel("SAM.gov registration").uncheck();
  await page.getByLabel("TIN match").check();
  await send(page);
  await page.getByRole("heading", { name: "Results" }).waitFor();
  await keepSource();
  expect(await fact(page, "TIN asked about").textContent()).toContain(`****${tin.slice(5)}`);
  expect(await countOf(page.getByText("passed", { exact: true }))).toBeGreaterThan(0);
  await page.getByRole("link", { name: "Evidence of TIN match" }).click();
  await page.getByText("As received", { exact: true }).click();
  await keepSource();
  await page.goto("/test/verifications");
  await keepSource();
  Object.assign(sources, everyLog(logDir));
  sources.spans = withoutTimes(await readFile(spansFile, "utf8"));
  const holding = Object.entries(sources).filter(([, text]) => text.includes(tin) || text.includes(written));
  expect(holding.map(([name]) => name)).toEqual([]);
});
