import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { expectSound } from "./appearance.ts";
import { countOf } from "./browser.ts";
import { signedInUser } from "./signed-in-user.ts";

const { organization, page, secondPage } = await signedInUser();
const FORGOTTEN = "Forgotten Quarry LLC";

/** Verifies vendors of the sandbox that pass, are expired, are excluded and get no answer, and monitors one. */
const { sandbox } = organization;
for (const uei of ["SANDBXACTVE1", "SANDBXEXPRD1", "SANDBXDEBAR1", "SANDBXERRR01"]) {
  const body = { identifiers: { uei }, checks: ["sam_registration"], mode: "realtime" };
  const { body: verified } = await sandbox.post("/v1/verify", body);
  if (uei !== "SANDBXACTVE1") continue;
  await sandbox.post("/v1/monitors", { entity_id: verified.entity_id, checks: ["sam_registration"] });
  await sandbox.request("PUT", `/v1/entities/${verified.entity_id}/external_id`, { body: { external_id: "=V-1" } });
}
await sandbox.post("/v1/entities", { legal_name: FORGOTTEN });
await eventually(
  async () => (await rowsOf("/test/vendors")) === 5 && (await rowsOf("/test/vendors?show=monitored")) === 1,
);

async function rowsOf(path: string): Promise<number> {
  await page.goto(path);
  return countOf(page.locator("tbody tr"));
}

async function show(choice: string): Promise<void> {
  await page.goto("/test/vendors");
  await page.getByLabel("Show").selectOption(choice);
  await page.getByRole("heading", { name: `Vendors: ${choice}` }).waitFor();
}

test("compliance: which vendors failed, are excluded, got no answer and were never checked is one choice each", async () => {
  await page.goto("/test/vendors");
  const text = (await page.locator("main").textContent())!;
  expect(text).toMatch(/Active in SAM\.gov until \d+ \w+ \d{4}\./);
  await expectSound(page, "the list of vendors");
  for (const [choice, expected] of [
    ["failed", 2],
    ["excluded", 1],
    ["without an answer", 1],
    ["not monitored", 4],
    ["monitored", 1],
    ["not checked for 30 days", 1],
    ["registration expired", 1],
  ] as const) {
    await show(choice);
    expect([choice, await countOf(page.locator("tbody tr"))]).toEqual([choice, expected]);
  }
  await show("not checked for 30 days");
  await page.getByRole("link", { name: FORGOTTEN }).waitFor();
});

test("a vendor is archived without script, and taken back", async () => {
  const visitor = await secondPage();
  await visitor.goto("/test/vendors");
  await visitor.getByRole("button", { name: `Archive ${FORGOTTEN}` }).click();
  await visitor.getByText("The vendor was archived.").waitFor();
  expect(await countOf(visitor.locator("tbody tr"))).toBe(4);
  await visitor.getByLabel("Show").selectOption("archived");
  await visitor.getByRole("button", { name: "Filter" }).click();
  await visitor.getByRole("button", { name: `Take back ${FORGOTTEN}` }).click();
  await visitor.getByText("The vendor is in the list again.").waitFor();
});

test("compliance: the report of this month names every check with its source, and the vendors without one", async () => {
  await page.goto("/test/vendors");
  await page.getByRole("link", { name: "Screening report" }).click();
  await page.getByRole("link", { name: "This month" }).click();
  await page.getByRole("heading", { name: /checks from/ }).waitFor();
  const answers = page.locator("table.screening tbody tr");
  expect(await countOf(answers)).toBeGreaterThanOrEqual(4);
  expect(await answers.first().textContent()).toMatch(/sandbox provider.*data as of \d+ \w+ \d{4}/s);
  expect(await page.getByRole("region", { name: /^Not checked from/ }).textContent()).toContain(FORGOTTEN);
  await expectSound(page, "the screening report");

  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download as CSV" }).click();
  const file = readFileSync(await (await downloading).path(), "utf8");
  expect(file).toContain(`"'=V-1"`);
  expect(file).toContain(`"${FORGOTTEN}","","","","not checked in this period"`);

  // On paper there are no forms and no navigation.
  await page.emulateMedia({ media: "print" });
  for (const hidden of [page.getByRole("navigation").first(), page.getByLabel("First day (UTC)")]) {
    expect(await hidden.isVisible()).toBe(false);
  }
  expect(await answers.first().isVisible()).toBe(true);
  await page.emulateMedia({ media: "screen" });
});

test("25 vendors fit into 1,100 px at 1280 px, long reasons are shown in full on the vendor’s page, and a filter applies immediately", async () => {
  for (let made = 0; made < 25; made += 1) {
    const legal_name = `Harbor Line Freight and Storage Company No. ${made} of Northern Wisconsin, Inc.`;
    await organization.sandbox.post("/v1/entities", { legal_name });
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await eventually(async () => (await rowsOf("/test/vendors")) >= 25);
  const rows = page.locator("tbody tr");
  const highest = await page.evaluate<number>(
    `Math.max(...[...document.querySelectorAll("tr")].map((row) => row.getBoundingClientRect().height))`,
  );
  expect(26 * highest).toBeLessThanOrEqual(1_100);
  const reason = (await rows.locator(".long .hint").first().textContent())!;
  await page.getByLabel("Sort by").focus();
  await page.getByLabel("Sort by").selectOption("last check, newest first");
  await page.waitForURL(/sort=checked/);
  expect(await page.evaluate<string>("document.activeElement.id")).toBe("sort");
  await rows.filter({ hasText: reason }).first().getByRole("link").click();
  await page.getByText(reason.split(". ")[0]!).first().waitFor();
});
