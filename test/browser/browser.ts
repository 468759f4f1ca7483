import { eventually, untilEnd } from "@vvs/testing";
import { type Browser, type BrowserContext, chromium, type Locator } from "playwright-core";
import { findChromium } from "../../deploy/local/chromium.ts";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const ACTION_TIMEOUT_MS = 30_000;

/** Starts a real browser until the tests of the file are over; each of its contexts is a fresh profile. */
export async function launchBrowser(): Promise<Browser> {
  return untilEnd(await chromium.launch({ executablePath: findChromium(), args: FLAGS }));
}

/** Returns a fresh profile. */
export async function newProfile(
  browser: Browser,
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(ACTION_TIMEOUT_MS);
  return context;
}

/** Returns the number of matches once the whole page has loaded. */
export async function countOf(locator: Locator): Promise<number> {
  await locator.page().waitForLoadState();
  return locator.count();
}

/** Returns the texts of all matches once the whole page has loaded. */
export async function textsOf(locator: Locator): Promise<string[]> {
  await locator.page().waitForLoadState();
  return locator.allTextContents();
}

/** Opens a page again and again until it shows something, or shows it no longer. */
export async function openUntil(path: string, something: Locator, isShown = true): Promise<void> {
  const shows = async () => {
    await something.page().goto(path);
    return (await countOf(something)) > 0 === isShown;
  };
  await eventually(shows, { everyMs: 500 });
}
