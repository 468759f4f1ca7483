import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { type Reason, reasonOf, reasons, whatToDo } from "./index.ts";

test("docs/errors.md says of each reason what the reference page says, and has no other reason", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/errors.md"), "utf8");
  const rows = Object.entries<Reason>(reasons).map(
    ([name, reason]) => `| \`${name}\` | ${reason.of} | ${reason.meaning} | ${whatToDo(reason)} |`,
  );
  expect(page.split("## Reasons of results")[1]!.match(/^\| `.*$/gm)).toEqual(rows);
});

test("a reason with a number has the entry of all such reasons, and an unknown one has none", () => {
  expect(reasonOf("http_503")).toBe(reasons["http_<status>"]);
  expect(reasonOf("irs_code_5")).toBe(reasons["irs_code_<code>"]);
  for (const unknown of ["http_soon", "toString", ""]) expect(reasonOf(unknown)).toBeUndefined();
});
