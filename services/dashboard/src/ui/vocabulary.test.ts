import { expect, test } from "@jest/globals";
import { messageText } from "../http/problem.ts";
import { age, reasonMeaning } from "./vocabulary.ts";

test.each([
  [0, "as of the check"],
  [1, "1 second old"],
  [59, "59 seconds old"],
  [60, "1 minute old"],
  [7_199, "1 hour old"],
  [86_400, "1 day old"],
  [200_000, "2 days old"],
])("data of %i s is %s", (seconds, text) => {
  expect(age(seconds)).toBe(text);
});

test.each([
  ["excluded", "The vendor has an active exclusion."],
  ["http_503", "The provider answered with HTTP status 503."],
  ["irs_code_5", "The IRS answered with result code 5, which says nothing about the vendor."],
  ["missing_tin", "This vendor’s TIN is not known. Run the check again with the vendor’s TIN."],
  ["something_new", undefined],
  ["toString", undefined],
])("the reason %s means %j", (code, meaning) => {
  expect(reasonMeaning(code)).toBe(meaning);
});

test.each([
  ["No entity matches.", "No vendor matches."],
  ["An entity with one of these identifiers exists.", "A vendor with one of these identifiers exists."],
  ["Several entities match an entity.", "Several vendors match a vendor."],
  ["The identity is known.", "The identity is known."],
])("the message “%s” is shown as “%s”", (message, text) => {
  expect(messageText(message)).toBe(text);
});
