import { expect, test } from "@jest/globals";
import { countOf } from "./browser.ts";
import { signedInUser } from "./signed-in-user.ts";

const { page, secondPage } = await signedInUser();

const focused = () => page.evaluate<string>("document.activeElement.id");
const help = () => page.getByRole("dialog", { name: "Keyboard shortcuts" });

test("g and a letter open each section and switch the environment", async () => {
  await page.goto("/test/overview");
  for (const [key, path] of [
    ["m", "/test/monitors"],
    ["l", "/live/monitors"],
    ["u", "/live/usage"],
    ["t", "/test/usage"],
    ["o", "/test/overview"],
  ] as const) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await page.waitForURL(`**${path}`);
  }
});

test("/ goes to the search box of every page, which leads to what an id or a number means; f goes to the filter", async () => {
  await page.goto("/test/monitors");
  await page.keyboard.press("f");
  expect(await focused()).not.toBe("find");
  await page.goto("/test/usage");
  await page.keyboard.press("/");
  expect(await focused()).toBe("find");
  await page.keyboard.type("SANDBXACTVE1");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/test/vendors/ent_*");
  await page.setViewportSize({ width: 360, height: 800 });
  await page.keyboard.press("/");
  expect(await focused()).toBe("find");
  await page.setViewportSize({ width: 1280, height: 800 });
});

test("keys typed into a field trigger no shortcut", async () => {
  await page.goto("/test/vendors/search");
  await page.getByRole("textbox", { name: "Name" }).pressSequentially("g? /m");
  expect(await page.getByRole("textbox", { name: "Name" }).inputValue()).toBe("g? /m");
  expect(await countOf(help())).toBe(0);
});

test("? shows the shortcuts, Escape closes them, and a user can turn them off permanently", async () => {
  await page.goto("/test/overview");
  await page.keyboard.press("?");
  await help().waitFor();
  await page.keyboard.press("Escape");
  await help().waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
  await help().getByLabel("Use these shortcuts").uncheck();
  await help().getByRole("button", { name: "Close" }).click();
  await page.reload();
  await page.keyboard.press("?");
  expect(await countOf(help())).toBe(0);
  await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
  await help().getByLabel("Use these shortcuts").check();
});

test("in a narrow window the header is small, and the menu button opens the sections, without script", async () => {
  const narrow = await secondPage();
  await narrow.setViewportSize({ width: 360, height: 800 });
  const { height } = (await narrow.locator("header").boundingBox())!;
  expect(height).toBeLessThan(130);
  const sections = narrow.getByRole("navigation", { name: "Sections" });
  expect(await sections.isVisible()).toBe(false);
  await narrow.getByText("Menu", { exact: true }).click();
  await sections.getByRole("link", { name: "Usage" }).click();
  await narrow.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
  await narrow.setViewportSize({ width: 800, height: 800 });
  expect(await sections.isVisible()).toBe(true);
  expect(await narrow.getByText("Menu", { exact: true }).isVisible()).toBe(false);
});
