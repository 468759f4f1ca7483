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
  ["12-3456780", "123456780", true],
  ["V-1", "123456780", false],
  ["123456780", undefined, false],
  [undefined, undefined, false],
])("the number %j is the TIN %j: %p", (externalId, tin, isTin) => {
  expect(isTinAsNumber(externalId, tin)).toBe(isTin);
});
