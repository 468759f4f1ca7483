import { join } from "node:path";
import type { Page } from "playwright-core";

/** A page, and the name of its screenshots. */
export interface FoundPage {
  readonly name: string;
  readonly path: string;
  /** What a user does on the page before its screenshots. */
  readonly open?: (page: Page) => Promise<void>;
  /** Whether it is printed instead. */
  readonly isPrinted?: boolean;
}

const WIDTHS = [360, 768, 1440] as const;
const SCHEMES = ["light", "dark"] as const;
const PAPER = ["A4", "Letter"] as const;
/** Ids in paths. Only one of the pages that differ only by ids is captured. */
const ID = /[a-z]+_[0-9a-z]{26}/g;

/** The pages that need no session. */
export const PUBLIC_PAGES: readonly FoundPage[] = [
  "/sign-in",
  "/sign-in/code",
  "/sign-in/passkey",
  "/sign-in/sso",
  "/sign-up",
  "/forgot-password",
  "/mailbox",
  "/nothing-here",
].map((path) => ({
  name: nameOf(path),
  path,
}));

/** Returns one page of each kind that links lead to, directly or not, from these pages. Queries are ignored. */
export async function findPages(page: Page, from: readonly string[]): Promise<FoundPage[]> {
  const found = new Map<string, string>();
  const queue = [...from];
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    const name = nameOf(path);
    if (found.has(name)) continue;
    const response = await page.request.get(path);
    if (!response.headers()["content-type"]?.startsWith("text/html")) continue;
    await page.goto(path);
    found.set(name, path);
    queue.push(...(await linksOf(page)));
  }
  return [...found].map(([name, path]) => ({ name, path }));
}

/**
 * Takes screenshots of a whole page in light and dark mode at three widths: `<name>.<scheme>.<width>.png`. A page that is
 * printed becomes `<name>.<format>.pdf` for two formats of paper.
 */
export async function takeScreenshots(page: Page, found: FoundPage, folder: string): Promise<void> {
  const { name, path, isPrinted = false } = found;
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(path);
  await found.open?.(page);
  if (isPrinted) {
    for (const format of PAPER) await page.pdf({ path: join(folder, `${name}.${format}.pdf`), format });
    return;
  }
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: join(folder, `${name}.${colorScheme}.${width}.png`), fullPage: true });
    }
  }
}

function linksOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll("a[href]:not([download])")]
    .map((link) => new URL(link.href))
    .filter((url) => url.origin === location.origin)
    .map((url) => url.pathname)`);
}

function nameOf(path: string): string {
  return path.replaceAll(ID, "one").replace(/^\//, "").replaceAll("/", "-") || "home";
}
