import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { advice } from "./advice.ts";
import { catalogue, type ErrorCode } from "./catalogue.ts";

test("docs/errors.md says of each error of the catalogue what the reference page says, and has no other error", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/errors.md"), "utf8");
  const codes = Object.keys(catalogue) as ErrorCode[];
  const rows = codes.map(
    (code) => `| \`${code}\` | ${catalogue[code].http} | ${advice[code].cause} | ${advice[code].remedy} |`,
  );
  expect(page.split("## ")[0]!.match(/^\| `.*$/gm)).toEqual(rows);
});
