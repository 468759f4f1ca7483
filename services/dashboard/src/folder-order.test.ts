import { globSync, readFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

const src = dirname(fileURLToPath(import.meta.url));
const readme = readFileSync(`${src}/../README.md`, "utf8");

/** Returns the place of each folder in the order that the README shows, from the lowest. */
function places(): ReadonlyMap<string, number> {
  const [, table = ""] = /from the lowest \|.*\n.*\n((?:\|.*\n)+)/.exec(readme)!;
  const lines = table.split("\n").map((line) => [...line.matchAll(/`([\w-]+)\//g)].map(([, folder]) => folder!));
  return new Map(lines.flatMap((folders, place) => folders.map((folder) => [folder, place] as const)));
}

test("folders import only folders that stand above them in the README", () => {
  const order = places();
  const files = globSync("*/*.ts", { cwd: src, exclude: ["testing/**"] }).filter((file) => !file.endsWith(".test.ts"));
  expect(files.length).toBeGreaterThan(90);
  const wrong = files.flatMap((file) => {
    const own = posix.dirname(file);
    const imported = readFileSync(`${src}/${file}`, "utf8").matchAll(/from "(\.[^"]+)"/g);
    return [...imported].flatMap(([, path]) => {
      const other = posix.dirname(posix.join(own, path!));
      return other === own || order.get(other)! < order.get(own)! ? [] : [`${file} -> ${other}`];
    });
  });
  expect(wrong).toEqual([]);
});
