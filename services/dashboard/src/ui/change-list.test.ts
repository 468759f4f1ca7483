import { expect, test } from "@jest/globals";
import { changeList } from "./change-list.ts";

test.each([
  ["sam_registration.status", "pass", "fail", "SAM.gov registration: from passed → to failed"],
  ["tin_match.status", undefined, "error", "TIN match: from none → to no answer"],
  ["sam_registration.registration_status", "active", "expired", "Registration: from active → to expired"],
  ["sam_registration.expiration_date", "2026-03-31", "", "Registered until: from 31 March 2026 → to none"],
  ["tin_match.reason", "mismatch", "a_new_one", "The name and the TIN do not match. → to a_new_one"],
  ["tin_match.tin", "****6789", "****6789", "TIN asked about: from ****6789 → to another with the same last digits"],
  ["new_check.new_field", "<a>", "b", "new_check.new_field: from &lt;a&gt; → to b"],
])("a change of %s is said in words", (field, previous, current, expected) => {
  const { markup } = changeList([{ field, ...(previous && { previous }), current }]);
  expect(markup.replaceAll(/<[^>]+>/g, "")).toContain(expected);
});
