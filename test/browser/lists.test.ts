import { readFile } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import type { Locator } from "playwright-core";
import { expectSound } from "./appearance.ts";
import { signedInUser } from "./signed-in-user.ts";

const { page, secondPage } = await signedInUser();

const FILE = {
  name: "vendors.csv",
  mimeType: "text/csv",
  buffer: Buffer.from(
    [
      "Vendor No,Company,UEI,Buyer,Note",
      "V-1,Sandbox Active Vendor LLC,SANDBXACTVE1,Ann,",
      "V-2,Sandbox Debarred Vendor LLC,SANDBXDEBAR1,Bob,EIN 91-2345678",
      "V-3,Sandbox Expired Vendor Corp,SANDBXEXPRD1,Ann,",
      "V-4,Mistyped Inc,SANDBX-1,Bob,",
      "",
    ].join("\r\n"),
  ),
};

test("payables: a file of vendors becomes decisions in at most 8 clicks", async () => {
  await page.goto("/test/overview");
  let clicks = 0;
  const click = async (target: Locator) => {
    clicks++;
    await target.click();
  };
  await click(page.getByRole("link", { name: "Lists", exact: true }));
  await click(page.getByRole("link", { name: "Verify a list" }).first());
  // Opening the chooser, and choosing.
  clicks += 2;
  await page.getByLabel("File", { exact: true }).setInputFiles(FILE);
  await click(page.getByRole("button", { name: "Preview" }));
  await page.getByText('Row 5, "UEI" must be 12 letters and digits').waitFor();
  await click(page.getByRole("button", { name: "Verify 3 rows" }));
  await page.getByText("Completed", { exact: false }).first().waitFor();
  await click(page.locator(".facts").getByText("Hold").locator("..").getByRole("link"));
  await page.getByRole("heading", { name: "Matching results" }).waitFor();
  expect(clicks).toBeLessThanOrEqual(8);
  const held = await page.getByRole("rowheader").allTextContents();
  expect(held.map((text) => text.includes("V-2") || text.includes("V-3"))).toEqual([true, true]);
  await page.getByText("Excluded from federal awards").first().waitFor();
  await expectSound(page, "the results of a list");
});

test("results are downloaded, and vendors that passed are monitored", async () => {
  await page.getByRole("link", { name: "Show all results" }).click();
  await page.getByRole("heading", { name: "Results", exact: true }).waitFor();
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download as CSV" }).click();
  const text = await readFile(await (await downloading).path(), "utf8");
  const rows = text.trim().split("\r\n");
  expect(rows).toHaveLength(5);
  expect(rows[0]).toMatch(/^"Vendor No","Company","UEI","Buyer","Note","outcome","decision","registry_name",/);
  expect(rows[1]).toMatch(/^"V-1","Sandbox Active Vendor LLC","SANDBXACTVE1","Ann","","pass","pay",/);
  expect(rows[2]).toMatch(/^"V-2","Sandbox Debarred Vendor LLC","SANDBXDEBAR1","Bob","\*{4}5678","fail","hold",/);
  expect(rows[4]).toMatch(/^"V-4","Mistyped Inc","SANDBX-1","Bob","","invalid","review",.*"UEI must be 12 letters/);
  expect(rows[1]).toMatch(/\/test\/verifications\/ver_\w+"$/);
  await page.getByLabel("How often").selectOption("monthly");
  await page.getByRole("button", { name: "Monitor all that passed" }).click();
  await page.getByText("All vendors that passed have a monitor.").waitFor();
  await page.goto("/test/monitors");
  await page.getByRole("link", { name: "Sandbox Active Vendor LLC" }).waitFor();
  await page.goto("/test/lists");
  await page.getByRole("link", { name: /4 rows/ }).waitFor();
  await expectSound(page, "lists");
});

test("a form that goes on with the work of the form before is sent by itself", async () => {
  await page.route(/\/lists\/job_\w+$/, async (route) => {
    const response = await route.fetch();
    const form = 'data-busy="Creating monitors …"';
    await route.fulfill({ response, body: (await response.text()).replace(form, `${form} data-goes-on`) });
  });
  await page.getByRole("link", { name: /4 rows/ }).click();
  await page.getByText("All vendors that passed have a monitor.").waitFor();
  await page.unrouteAll();
});

test("the same list again shows only what changed", async () => {
  const buffer = Buffer.from("Vendor No,UEI\nV-1,SANDBXACTVE1\nV-9,SANDBXCHNGE1\n");
  for (const name of ["october.csv", "november.csv"]) {
    await page.goto("/test/lists/new");
    await page.getByLabel("File", { exact: true }).setInputFiles({ ...FILE, name, buffer });
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByRole("button", { name: "Verify 2 rows" }).click();
    await page.getByRole("link", { name: "What changed since an earlier list" }).waitFor();
  }
  await page.getByRole("link", { name: "What changed since an earlier list" }).click();
  await page.getByRole("heading", { name: "1 change" }).waitFor();
  await page.getByText("As before: 1.").waitFor();
  await page.getByRole("row", { name: /V-9/ }).waitFor();
  await expectSound(page, "what changed since an earlier list");
});

test("a list is pasted and its columns corrected without script", async () => {
  const visitor = await secondPage();
  await visitor.goto("/test/lists/new");
  await visitor
    .getByLabel("Or paste rows from a spreadsheet")
    .fill("Who\tCode\nSandbox Active Vendor LLC\tSANDBXACTVE1");
  await visitor.getByRole("button", { name: "Preview" }).click();
  await visitor.getByLabel("Code", { exact: true }).selectOption("uei");
  await visitor.getByRole("button", { name: "Update the preview" }).click();
  await visitor.getByText("UEI SANDBXACTVE1").waitFor();
  await visitor.getByRole("button", { name: "Verify 1 row" }).click();
  // The browser loads the page again by itself.
  await visitor.getByText("Completed", { exact: false }).first().waitFor();
});

test("the form for a list and its preview are accessible, and take a dropped file", async () => {
  await page.goto("/test/lists/new");
  await expectSound(page, "the form for a list");
  const transfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["UEI\\nSANDBXACTVE1\\n"], "dropped.csv"));
    return transfer;
  })()`);
  await page.locator("form.card").dispatchEvent("drop", { dataTransfer: transfer });
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("button", { name: "Verify 1 row" }).waitFor();
  await expectSound(page, "the preview of a list");
});
