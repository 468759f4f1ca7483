import { expect, test } from "@jest/globals";
import { effectOf } from "./exclusion-effect.ts";

const SECTION_889 =
  "Section 889(a)(1)(A), FY 2019 NDAA. The entity is not itself excluded; the prohibition covers equipment.";

test.each([
  ["an ordinary row bars", { agency: "DOJ", causeCode: "", comment: "" }, "bar"],
  [
    "a row of HHS bars",
    { agency: "HHS", causeCode: "Z1", comment: "Excluded from Federal health care programs." },
    "bar",
  ],
  ["Section 889 restricts products", { agency: "GSA", causeCode: "", comment: SECTION_889 }, "product"],
  ["Section 889 of another agency bars", { agency: "DOD", causeCode: "", comment: SECTION_889 }, "bar"],
  [
    "Section 889 bars unless the entity is said not to be excluded",
    { agency: "GSA", causeCode: "", comment: "Section 889" },
    "bar",
  ],
  ["CT code H limits to a facility", { agency: "EPA", causeCode: "H", comment: "" }, "facility"],
  [
    "a comment limits to a facility",
    { agency: "EPA", causeCode: "", comment: "Conviction.  This\nFacility Only." },
    "facility",
  ],
])("%s", (_name, terms, expected) => {
  expect(effectOf(terms)).toBe(expected);
});
