import { describe, expect, test } from "@jest/globals";
import { maskSecrets, maskTinIn } from "./mask-answers.ts";

describe("a TIN is masked", () => {
  test.each([
    ["bare", '{"tin":"471829360"}', '{"tin":"****9360"}'],
    ["as an EIN", '{"tin":"47-1829360"}', '{"tin":"****9360"}'],
    ["as an SSN", "no match for 471-82-9360.", "no match for ****9360."],
    ["with spaces", "471 82 9360", "****9360"],
    ["with other hyphens", "47–1829360", "****9360"],
    ["digit by digit", "4-7-1-8-2-9-3-6-0", "****9360"],
    ["inside a word", "ref-471829360-1", "ref-****9360-1"],
    ["inside a longer number", "1471829360", "1****9360"],
    ["in each place", "471829360 and 47-1829360", "****9360 and ****9360"],
    [
      "as a number, and JSON stays JSON",
      '{"tin": 471829360, "n":[471829360]}',
      '{"tin": "****9360", "n":["****9360"]}',
    ],
    ["not where it isn't", '{"tin":"471829361"}', '{"tin":"471829361"}'],
  ])("%s", (_name, text, expected) => {
    expect(maskTinIn(text, "471829360")).toBe(expected);
  });

  test("as a number that lost its leading zeros, but not inside another one", () => {
    expect(maskTinIn('{"tin":12345678,"id":9123456780}', "012345678")).toBe('{"tin":"****5678","id":9123456780}');
  });
});

test("secrets that a provider repeats are masked, and an empty one masks nothing", () => {
  expect(maskSecrets("key k-1 and again k-1", ["k-1", ""])).toBe("key **** and again ****");
});
