import { expect, test } from "@jest/globals";
import { CheckType } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { readSearch, searchInput } from "../vendors/search-input.ts";
import { readVerification, type VerificationInput, withoutTin, withTypedTin } from "./verification-form.ts";

const typed = (changes: Partial<VerificationInput> = {}): VerificationInput => ({
  uei: "",
  cage: "",
  duns: "",
  tin: "",
  legal_name: "",
  checks: ["sam_registration"],
  mode: "realtime",
  ...changes,
});

test("identifiers are normalized as they are stored, and empty ones are left out", () => {
  const form = typed({
    uei: " sandbx-actve1 ",
    tin: "21-3456789",
    legal_name: " Acme ",
    checks: ["tin_match", "sam_registration"],
  });
  expect(readVerification(form, "sandbox")).toEqual({
    request: {
      identifiers: { uei: "SANDBXACTVE1", tin: "213456789" },
      legalName: "Acme",
      checks: [CheckType.SAM_REGISTRATION, CheckType.TIN_MATCH],
      mode: Mode.REALTIME,
    },
  });
});

test("a name whose UTF-8 was read as Latin-1 is repaired, as the API does", () => {
  const { request } = readVerification(typed({ tin: "213456789", legal_name: "NESTL\u00c3\u0089 USA" }), "sandbox");
  expect(request).toMatchObject({ legalName: "NESTLÉ USA" });
  const search = searchInput((name) => (name === "legal_name" ? "NESTL\u00c3\u0089 USA" : ""));
  expect(readSearch(search).request).toMatchObject({ legalName: "NESTLÉ USA" });
});

test("all problems are reported together", () => {
  const form = typed({
    uei: "x",
    cage: "x",
    duns: "x",
    tin: "x",
    legal_name: "x".repeat(301),
    checks: ["none"],
    mode: "toString",
  });
  expect(readVerification(form, "sandbox")).toEqual({
    problems: {
      uei: "The UEI must be 12 letters and digits.",
      cage: "The CAGE code must be 5 letters and digits.",
      duns: "The D-U-N-S number must be 9 digits.",
      tin: "The TIN must be 9 digits.",
      legal_name: "The legal name must be at most 300 characters.",
      checks: "Choose at least one check.",
      mode: "Choose a mode.",
    },
  });
});

test.each([
  [{}, { identifiers: "Enter at least one identifier." }],
  [{ tin: " - " }, { identifiers: "Enter at least one identifier." }],
  [{ cage: "5UTE1", legal_name: "Acme 21-3456789" }, { legal_name: expect.stringContaining("must not contain a TIN") }],
  [
    { cage: "5UTE1", legal_name: "Acme\u0000" },
    { legal_name: "The legal name must not contain control characters: write it in one line, without tabs." },
  ],
])("%j is refused", (changes, problems) => {
  expect(readVerification(typed(changes), "sandbox")).toEqual({ problems });
});

test.each([
  ["a UEI", { uei: "SANDBXACTVE1" }, { uei: "SANDBXACTVE1" }],
  ["an ill-formed UEI", { uei: "SANDBX" }, { uei: "SANDBX" }],
  ["a D-U-N-S number", { duns: "15-048-3782" }, { duns: "15-048-3782" }],
  ["the TIN", { tin: "213456789" }, {}],
  ["a TIN in the field of the UEI", { uei: "21-3456789" }, { uei: "" }],
  ["a TIN behind other text in the field of the UEI", { uei: "x 213456789" }, { uei: "" }],
  ["a TIN spaced oddly in the field of the CAGE code", { cage: "21 34 56 789" }, { cage: "" }],
  ["a TIN in the name", { legal_name: "Acme 123-45-6789" }, { legal_name: "" }],
  ["the TIN in the name, spaced oddly", { tin: "213456789", legal_name: "Acme 21 34 56 789" }, { legal_name: "" }],
  ["the TIN as a D-U-N-S number too", { tin: "213456789", duns: "21-3456789" }, { duns: "" }],
])("after %s no TIN is shown again", (_what, changes, shown) => {
  const { tin: _tin, ...rest } = typed();
  expect(withoutTin(typed(changes))).toEqual({ ...rest, ...shown });
});

test.each([
  [["sam_registration"], "21-3456789", ["sam_registration", "tin_match"]],
  [["sam_registration"], " ", ["sam_registration"]],
  [["tin_match"], "213456789", ["tin_match"]],
])("of the chosen checks %j with the TIN %j these are made: %j", (checks, tin, made) => {
  expect(withTypedTin(checks, tin)).toEqual(made);
});
