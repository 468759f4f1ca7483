import { expect, test } from "@jest/globals";
import { fieldTitle, reasonMeaning, valueText } from "./words.ts";

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
  ["sam_registration.status", "fail", "SAM.gov registration: failed"],
  ["tin_match.status", "error", "TIN match: no answer"],
  ["tin_match.reason", "mismatch", "Reason (TIN match): The name and the TIN do not match."],
  ["sam_registration.expiration_date", "2026-03-31", "Registered until: 31 March 2026"],
  ["sam_registration.exclusion_effect", "bar", "Exclusion: excluded from federal awards"],
  ["sam_registration.cage", undefined, "CAGE code in SAM.gov: none"],
  ["new_check.new_field", "new", "new_check.new_field: new"],
])("the field %s with %j is said in words", (field, value, text) => {
  expect(`${fieldTitle(field)}: ${valueText(field, value)}`).toBe(text);
});
