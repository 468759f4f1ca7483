import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { retention } from "./organization.ts";

const guide = readFileSync(join(import.meta.dirname, "../../../../docs/operations.md"), "utf8").split("\n");

test.each(retention)("$what: $days days, as the operations guide says", ({ days, listed }) => {
  expect(guide.find((line) => line.startsWith(`| ${listed}`))).toMatch(new RegExp(`\\| ${days} days\\b`));
});
