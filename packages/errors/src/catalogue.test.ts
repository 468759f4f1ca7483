import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { catalogue } from "./catalogue.ts";

test("docs/errors.md explains every error of the catalogue with its HTTP status, and no other error", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/errors.md"), "utf8");
  const explained = [...page.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, code, status]) => [code, Number(status)]);
  expect(explained.sort()).toEqual(
    Object.entries(catalogue)
      .map(([code, { http }]) => [code, http])
      .sort(),
  );
});
