import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { projectRoot } from "./local/services.ts";

/** Files that may read the machine's own clock, with the reason. */
const OWN_CLOCK: Readonly<Record<string, string>> = {
  "services/gateway/src/main.ts": "it has no database",
  "services/dashboard/src/main.ts": "it has no database",
  "services/canary/src/main.ts": "it has no database",
  "services/entity/src/registry-load/cli.ts": "command-line defaults and a progress display",
  "services/entity/src/migrate.ts": "a single process; its times are compared with no others",
};

test("no service compares its machine's clock with times of another replica", () => {
  const files = globSync("services/*/src/**/*.ts", { cwd: projectRoot }).filter(
    (file) => !/\.test\.ts$|\/testing\/|\/test-/.test(file),
  );
  expect(files.length).toBeGreaterThan(300);
  const readers = files.filter((file) =>
    /\bnew Date\(\)|\bDate\.now\(\)/.test(readFileSync(join(projectRoot, file), "utf8")),
  );
  expect(readers.sort()).toEqual(Object.keys(OWN_CLOCK).sort());
});
