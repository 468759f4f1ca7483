import { expect, test } from "@jest/globals";
import { sharedProduct } from "../support/product.ts";
import { axeFindings, lowContrasts, overflowPx } from "./appearance.ts";
import { launchBrowser, newProfile } from "./browser.ts";

const { baseUrl } = sharedProduct();
const browser = await launchBrowser();

test.each([
  [360, "light"],
  [768, "dark"],
  [1440, "light"],
] as const)(
  "the reference page fits %i px, can be read in %s mode and breaks no policy",
  async (width, colorScheme) => {
    const profile = await newProfile(browser, { viewport: { width, height: 800 }, colorScheme });
    const page = await profile.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(`${baseUrl}/docs`);
    // Everything that can be opened counts too.
    await page.evaluate(`document.querySelectorAll("details").forEach((one) => { one.open = true; })`);
    expect(await overflowPx(page)).toBe(0);
    expect(await lowContrasts(page)).toEqual([]);
    expect(await axeFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
  },
);

test("the reference page copies calls, and can be read without scripts", async () => {
  const profile = await newProfile(browser, { permissions: ["clipboard-read", "clipboard-write"] });
  const page = await profile.newPage();
  await page.goto(`${baseUrl}/docs`);
  const call = page.locator("figure", { has: page.locator("#lookupEntity-curl") });
  await call.getByRole("button", { name: "Copy" }).click();
  await call.getByText("Copied").waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(
    await page.locator("#lookupEntity-curl").textContent(),
  );
  await profile.close();

  const plain = await newProfile(browser, { javaScriptEnabled: false });
  const still = await plain.newPage();
  await still.goto(`${baseUrl}/docs`);
  expect(await still.getByRole("button", { name: "Copy" }).count()).toBe(0);
  expect(await still.locator("#lookupEntity-curl").isVisible()).toBe(true);
  expect(await still.getByRole("searchbox").count()).toBe(0);
  await still.getByRole("radio", { name: "Go" }).check();
  expect(await still.locator("#lookupEntity-go").isVisible()).toBe(true);
  expect(await still.locator("#lookupEntity-curl").isVisible()).toBe(false);
});

test("the reference page remembers the language of samples", async () => {
  const profile = await newProfile(browser);
  const page = await profile.newPage();
  await page.goto(`${baseUrl}/docs`);
  await page.getByRole("radio", { name: "Python" }).check();
  await page.reload();
  expect(await page.locator("#getEntity-python").isVisible()).toBe(true);
  expect(await page.locator("#getEntity-curl").isVisible()).toBe(false);
});

test("the search of the reference page finds operations, errors, reasons and guides by keyboard", async () => {
  const profile = await newProfile(browser);
  const page = await profile.newPage();
  await page.goto(`${baseUrl}/docs`);
  const search = page.getByRole("searchbox");
  for (const [text, place] of [
    ["post /v1/monitors", "createMonitor"],
    ["cancelMonitor", "cancelMonitor"],
    ["cursor expired", "error-cursor_expired"],
    ["irs has not issued", "reason-not_issued"],
    ["copy of all", "keep-events"],
    ["on your machine", "try-webhooks"],
  ] as const) {
    await page.keyboard.press("/");
    await search.fill(text.toUpperCase());
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${baseUrl}/docs#${place}`);
    expect(await search.inputValue()).toBe("");
    await expect(page.locator(`[id="${place}"]`).isVisible()).resolves.toBe(true);
  }
  await page.keyboard.press("/");
  await page.keyboard.type("xyzzy");
  await page.getByText("Nothing found.").waitFor();
  await page.keyboard.press("Escape");
  expect(await page.getByText("Nothing found.").count()).toBe(0);
});
