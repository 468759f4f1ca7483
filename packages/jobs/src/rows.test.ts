import { expect, test } from "@jest/globals";
import { createRepeatFinder, isTinAsNumber } from "./index.ts";

test("a row repeats the first that is the same but for its number", () => {
  const repeated = createRepeatFinder();
  const acme = { identifiers: { uei: "ABCDEFGHJK12" }, legalName: "Acme" };
  expect(
    [
      { row: 2, externalId: "V-1", ...acme },
      { row: 3, externalId: "V-1", ...acme, address: "1 Main St" },
      { row: 5, externalId: "V-2", ...acme },
      { row: 7, ...acme },
    ].map(repeated),
  ).toEqual([undefined, undefined, 2, 2]);
});

test.each([
  ["12-3456780", { tin: "123456780" }, true],
  ["V 123456780", [{ type: "ein", value: 123456780 }], true],
  ["0123456780", ["Acme", "12-3456780"], true],
  ["V-1", { tin: "123456780" }, false],
  ["123456780", { duns: "123456780" }, false],
  ["123456780", undefined, false],
  [undefined, undefined, false],
])("the number %j is a TIN in %j: %p", (externalId, others, isTin) => {
  expect(isTinAsNumber(externalId, others)).toBe(isTin);
});
