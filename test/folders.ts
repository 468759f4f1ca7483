import { type Dirent, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** Maximum number of source files directly in one folder. */
const MAX_FILES = 25;
/** Maximum number of lines of a source file. */
const MAX_LINES = 400;
/** Folders with the sources to count. They hold no generated code. */
const ROOTS = ["services", "packages", "deploy"];
const NOT_COUNTED = new Set(["node_modules", "dist", "generated", "testing"]);

/**
 * Returns the folders that hold too many source files and the source files that are too long, one on each line;
 * undefined if there are none. Tests and testing folders are not counted.
 */
export function oversizeProblems(root: string): string | undefined {
  const problems = ROOTS.flatMap((folder) => problemsIn(join(root, folder))).map((line) => relative(root, line));
  return problems.length === 0 ? undefined : problems.join("\n");
}

/** Returns lines that begin with an absolute path. */
function problemsIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  const files = entries.filter(isSource).map(({ name }) => join(folder, name));
  const folders = entries.filter((entry) => entry.isDirectory() && !NOT_COUNTED.has(entry.name));
  return [
    ...(files.length > MAX_FILES ? [`${folder}: ${files.length} source files, more than ${MAX_FILES}`] : []),
    ...files.flatMap((file) => {
      const lines = readFileSync(file, "utf8").split("\n").length - 1;
      return lines > MAX_LINES ? [`${file}: ${lines} lines, more than ${MAX_LINES}`] : [];
    }),
    ...folders.flatMap(({ name }) => problemsIn(join(folder, name))),
  ];
}

function isSource(entry: Dirent): boolean {
  return entry.isFile() && /\.(ts|mjs)$/.test(entry.name) && !/(\.test\.ts|^testing\.ts)$/.test(entry.name);
}
