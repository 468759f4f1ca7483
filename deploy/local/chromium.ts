import { existsSync } from "node:fs";
import { installCommand, installPackage } from "./debian.ts";

const USUAL_PATHS = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome-stable",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const PACKAGE = "chromium";

/** Where to look for a browser, and how to install one. */
export interface ChromiumSearch {
  /** CHROMIUM_PATH; if set, nothing else is tried. */
  readonly given: string | undefined;
  readonly paths: readonly string[];
  readonly exists: (path: string) => boolean;
  /** Installs Debian's package if possible; returns the problem, or undefined. */
  readonly install: () => string | undefined;
}

/**
 * Returns the path of Chromium or Chrome: CHROMIUM_PATH, or a usual place, or Debian's package, which is installed if
 * the machine has no browser and this user is root. Errors: one sentence that says what to do.
 */
export function findChromium(): string {
  return searchChromium({
    given: process.env.CHROMIUM_PATH || undefined,
    paths: USUAL_PATHS,
    exists: existsSync,
    install: () => installPackage(PACKAGE),
  });
}

/** Performs the search with the given file system and installer. */
export function searchChromium({ given, paths, exists, install }: ChromiumSearch): string {
  if (given !== undefined) {
    if (exists(given)) return given;
    throw new Error(`CHROMIUM_PATH names ${given}, which does not exist.`);
  }
  const found = paths.find(exists);
  if (found) return found;
  const problem = install();
  const installed = paths.find(exists);
  if (!problem && installed) return installed;
  throw new Error(
    `The browser tests need Chromium or Chrome: run "${installCommand(PACKAGE)}" as root, or set CHROMIUM_PATH. ${problem ?? ""}`.trim(),
  );
}
