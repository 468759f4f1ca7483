import { expect, test } from "@jest/globals";
import { table } from "./output.ts";

test("a table has as many rows as a list", () => {
  const lines = table(["Id", "Name"], Array(200_000).fill(["mon_1", "Acme"])).split("\n");
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([200_001, "Id     Name", "mon_1  Acme"]);
});
