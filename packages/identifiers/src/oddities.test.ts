import { describe, expect, test } from "@jest/globals";
import type { IdentifierType } from "./index.ts";
import { explainOddity, ueiCheckDigit } from "./oddities.ts";

test.each(["UE9QJD4KK1L6", "PHZDZ8SJ5CM1", "C39LJA3KD378", "ZQGGHJH74DW7", "JF19T45AM8F2"])(
  "the check digit of the issued UEI %s fits",
  (uei) => expect(String(ueiCheckDigit(uei.slice(0, 11)))).toBe(uei.at(-1)),
);

describe("an identifier that matches nothing is explained", () => {
  test.each<[IdentifierType, string, RegExp | undefined]>([
    ["uei", "UE9QJD4KK1L6", undefined],
    ["uei", "UE9QJD4KK1L", /12 characters; this value has 11/],
    ["uei", "UE9QJD4KK1_6", /letters and digits only/],
    ["uei", "UE9QJD4KKIL6", /neither the letter O nor the letter I/],
    ["uei", "0E9QJD4KK1L6", /never 0/],
    ["uei", "U123456789L6", /nine digits in a row/],
    ["uei", "UE9QJD4KK1L7", /check character/],
    ["uei", "EU9QJD4KK1L6", /check character/],
    ["uei", "SANDBXACTVE1", /the key is a test key/],
    ["cage", "5UTE1", undefined],
    ["cage", "5UTE", /5 characters; this value has 4/],
    ["cage", "5OTE1", /neither the letter O/],
    ["uei", "NOTAPPLICABL", /The UEI says that there is none/],
    ["cage", "00000", /The CAGE code says that there is none/],
    ["cage", "5074", /this value has 4: a spreadsheet may have dropped leading zeros/],
    ["tin", "123456780", undefined],
    ["tin", "123456789", /placeholder/],
    ["tin", "12345678", /A TIN has 9 digits; this value has 8: a spreadsheet may have dropped leading zeros/],
    ["tin", "123456", /A TIN has 9 digits; this value has 6\.$/],
    ["duns", "12345678X", /A DUNS has 9 digits; this value has other characters/],
  ])("%s %s", (type, value, expected) => {
    const sentence = explainOddity(type, value);
    if (expected) expect(sentence).toMatch(expected);
    else expect(sentence).toBeUndefined();
  });

  test("without repeating a TIN", () => expect(explainOddity("tin", "12345678")).not.toContain("12345678"));
});
