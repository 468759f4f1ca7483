import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { projectRoot } from "../deploy/local/services.ts";

/** Code that only tests run. */
const ONLY_IN_TESTS = /\.test\.ts$|\/testing[/.]/;
const IMPORTED = /from "(@[^/"]+\/[^/"]+|[^.@"/][^/"]*)/g;

test.each(globSync("{services,packages}/*/package.json", { cwd: projectRoot }))(
  "what the code of %s imports is installed in the image too",
  (file) => {
    const folder = join(projectRoot, file, "..");
    const { name, dependencies = {} } = JSON.parse(readFileSync(join(projectRoot, file), "utf8"));
    const sources = globSync("src/**/*.ts", { cwd: folder }).filter((source) => !ONLY_IN_TESTS.test(source));
    const missing = sources.flatMap((source) =>
      [...readFileSync(join(folder, source), "utf8").matchAll(IMPORTED)]
        .map(([, imported]) => imported!)
        .filter((imported) => !imported.startsWith("node:") && imported !== name && !(imported in dependencies))
        .map((imported) => `${source}: ${imported}`),
    );
    expect(missing).toEqual([]);
  },
);
