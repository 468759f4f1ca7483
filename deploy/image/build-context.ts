import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { projectRoot } from "../local/services.ts";
import { run } from "./run.ts";

const PNPM = "pnpm@12.21.0";
const PARTS = [
  "package.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "test/package.json",
  "packages/testing/package.json",
];
const FOLDERS = ["patches", "proto", "packages", "services", "deploy"];
/** Packages whose production dependencies the image contains. */
const WANTED = ["--filter", "@vvs/deploy...", "--filter", "{./services/*}..."];

/** Returns whether a file belongs into the image. .dockerignore leaves out the same files. */
function belongs(path: string): boolean {
  const inside = relative(projectRoot, path);
  return !/(^|\/)(node_modules|testing|testing\.ts)$|\.test\.ts$|^(deploy\/local|packages\/client-python)$/.test(
    inside,
  );
}

/**
 * Fills an empty folder with the content of the image: sources, production dependencies from the installer's store, and
 * the bill of materials. Errors: the dependencies cannot be installed.
 */
export async function prepareBuildContext(folder: string): Promise<void> {
  for (const part of [...PARTS, ...FOLDERS]) {
    mkdirSync(join(folder, part, ".."), { recursive: true });
    cpSync(join(projectRoot, part), join(folder, part), { recursive: true, filter: belongs, verbatimSymlinks: true });
  }
  if (!existsSync(join(folder, "node_modules"))) {
    await run("npx", ["--yes", PNPM, "install", "--prod", "--frozen-lockfile", ...WANTED], { cwd: folder });
  }
  const format = ["--prod", "--sbom-format", "cyclonedx", "--sbom-type", "application", "--out", "sbom.json"];
  await run("npx", ["--yes", PNPM, "sbom", ...format, ...WANTED], { cwd: folder });
}
