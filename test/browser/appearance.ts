import { expect } from "@jest/globals";
import axe from "axe-core";
import type { Page } from "playwright-core";

const WIDTHS = [360, 768, 1440] as const;
/** Maximum size of a page with its styles, scripts and images, as transferred. */
const MAX_PAGE_BYTES = 100_000;

/**
 * Expects that the open page is accessible, readable in light and dark, fits windows of any width, and is light to load.
 * The window is then the widest, and the page dark.
 */
export async function expectSound(page: Page, name: string = page.url()): Promise<void> {
  await page.waitForLoadState();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect({ name, colorScheme, low: await lowContrasts(page) }).toEqual({ name, colorScheme, low: [] });
  }
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    expect({ name, width, overflow: await overflowPx(page) }).toEqual({ name, width, overflow: 0 });
  }
  expect({ name, unlabelled: await unlabelled(page) }).toEqual({ name, unlabelled: [] });
  expect({ name, findings: await axeFindings(page) }).toEqual({ name, findings: [] });
  const bytes = await transferredBytes(page);
  expect({ name, bytes, isLight: bytes < MAX_PAGE_BYTES }).toEqual({ name, bytes, isLight: true });
}

/**
 * Returns how many bytes a browser with an empty cache receives for the page: the document and all that it loads, compressed
 * as they were sent, without headers.
 */
function transferredBytes(page: Page): Promise<number> {
  return page.evaluate<number>(`performance.getEntriesByType("navigation")
    .concat(performance.getEntriesByType("resource"))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`);
}

/** Returns how many pixels the page is wider than its window; 0 if it does not scroll sideways. */
export function overflowPx(page: Page): Promise<number> {
  return page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

/**
 * Returns the texts with less contrast to their background than WCAG AA requires (4.5, or 3 for large text), each with
 * its ratio. A gradient counts as its first colour, which here is its lightest.
 */
export function lowContrasts(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(${findLowContrasts})()`);
}

/** Returns the form controls without a label for screen readers. */
export function unlabelled(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll("input:not([type=hidden]), select, textarea")]
    .filter((control) => control.labels.length === 0 && !control.getAttribute("aria-label"))
    .map((control) => control.outerHTML)`);
}

/** Returns what axe reports for WCAG 2.2 A and AA and its best practices, each with its location. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, { resultTypes: ["violations"] })`);
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id}: ${help}: ${target.join(" ")}`));
}

// Text, because it runs in the page. The formula is "relative luminance" of WCAG 2.2.
const findLowContrasts = `() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      const gradient = /rgb\\([^)]*\\)/.exec(style.backgroundImage);
      const [, , , alpha = 1] = channels(style.backgroundColor);
      if (alpha === 1) return style.backgroundColor;
      if (gradient) return gradient[0];
    }
    return "rgb(255, 255, 255)";
  };
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const [a, b] = [luminance(style.color), luminance(background(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) found.add(texts.currentNode.data.trim() + ": " + ratio.toFixed(2));
  }
  return [...found];
}`;
