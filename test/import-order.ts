import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseSync } from "oxc-parser";

/** An import of one file of a service by another, as paths from the service's `src`. */
interface Arrow {
  readonly from: string;
  readonly to: string;
}

const HEADING = "## Folders";

/**
 * Returns what is wrong with the imports of the services, one problem on each line; undefined if nothing is. Files and folders
 * form no circles, no service imports another, and each folder imports only from those that the service's README names before it.
 * Imports of types count. Tests don't: they stand beside what they test.
 */
export function importProblems(root: string): string | undefined {
  const services = readdirSync(join(root, "services"));
  const problems = services.flatMap((service) => {
    const folder = join(root, "services", service);
    const arrows = arrowsIn(join(folder, "src"));
    const found = [
      ...circlesIn(arrows).map((circle) => `circle: ${circle.join(", ")}`),
      ...arrows
        .filter(({ to }) => to.startsWith(".."))
        .map(({ from, to }) => `${from} imports ${to}, of another service`),
      ...orderProblems(folder, arrows),
    ];
    return found.map((problem) => `services/${service}: ${problem}`);
  });
  return problems.length === 0 ? undefined : problems.join("\n");
}

function arrowsIn(src: string): Arrow[] {
  const files = globSync("**/*.ts", { cwd: src }).filter((file) => !/(\.test\.ts$|(^|\/)testing(\/|\.ts$))/.test(file));
  return files.flatMap((file) => {
    const path = join(src, file);
    const { module } = parseSync(path, readFileSync(path, "utf8"));
    const imported = [
      ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...module.staticExports.flatMap(({ entries }) =>
        entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
      ),
    ];
    return imported
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => ({ from: file, to: relative(src, join(dirname(path), specifier)) }));
  });
}

/** Returns the circles of files, and of what stands beside each other in a folder: files and folders with all that they contain. */
function circlesIn(arrows: readonly Arrow[]): string[][] {
  const graph = new Map<string, Set<string>>();
  const add = (from: string, to: string) => graph.set(from, (graph.get(from) ?? new Set()).add(to));
  for (const { from, to } of arrows) {
    const [steps, others] = [from.split("/"), to.split("/")];
    const depth = steps.findIndex((step, index) => step !== others[index]) + 1;
    add(from, to);
    // Two files of one folder are those same two nodes.
    add(steps.slice(0, depth).join("/"), others.slice(0, depth).join("/"));
  }
  return strongComponents(graph).filter(({ length }) => length > 1);
}

/** Returns the groups of nodes that reach each other (Tarjan, 1972). */
function strongComponents(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const numbers = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const groups: string[][] = [];
  const visit = (node: string): number => {
    numbers.set(node, numbers.size);
    lowest.set(node, numbers.get(node)!);
    open.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!numbers.has(next)) visit(next);
      if (open.includes(next)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!));
    }
    if (lowest.get(node) === numbers.get(node)) groups.push(open.splice(open.indexOf(node)).toSorted());
    return lowest.get(node)!;
  };
  for (const node of graph.keys()) if (!numbers.has(node)) visit(node);
  return groups;
}

function orderProblems(folder: string, arrows: readonly Arrow[]): string[] {
  const folders = readdirSync(join(folder, "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "testing")
    .map(({ name }) => name);
  if (folders.length === 0) return [];
  const order = orderIn(join(folder, "README.md"));
  const unnamed = folders.filter((name) => !order.includes(name)).map((name) => `its README does not name ${name}`);
  const gone = order.filter((name) => !folders.includes(name)).map((name) => `its README names ${name}, which is gone`);
  const placeOf = (file: string) => (file.includes("/") ? order.indexOf(file.split("/")[0]!) : -1);
  const upward = arrows.filter(({ from, to }) => placeOf(from) >= 0 && placeOf(to) > placeOf(from));
  return [...unnamed, ...gone, ...upward.map(({ from, to }) => `${from} imports ${to}, which its README names later`)];
}

/** Returns the folders that a README names under its heading, in its order. */
function orderIn(file: string): string[] {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const [, section = ""] = text.split(`${HEADING}\n`);
  return [...section.split("\n## ")[0]!.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, name]) => name!);
}
