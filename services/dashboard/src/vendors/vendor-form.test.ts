import { describe, expect, test } from "@jest/globals";
import { CheckType } from "@vvs/proto/common/v1/common";
import { knownInputs, missingFields, readVendorForm, suggestedChecks } from "./vendor-form.ts";

const { SAM_REGISTRATION, TIN_MATCH } = CheckType;
const nothing = { uei: "", cage: "", tin: "", legalName: "" };
const all = { uei: "SANDBXACTVE1", cage: "1ABC2", tin: "****6789", legalName: "Acme" };
const blank = { uei: "", cage: "", tin: "", legal_name: "" };

test.each([
  ["Acme", "Acme"],
  ["Unknown entity (UEI SANDBXACTVE1)", ""],
])("of a vendor called %s the known name is %j", (legalName, known) => {
  expect(knownInputs({ identifiers: { uei: "SANDBXACTVE1" }, legalName })).toEqual({
    ...nothing,
    uei: "SANDBXACTVE1",
    legalName: known,
  });
});

test.each([
  [all, []],
  [{ ...all, uei: "" }, []],
  [{ ...all, cage: "" }, []],
  [{ ...all, uei: "", cage: "" }, ["uei", "cage"]],
  [{ ...all, tin: "" }, ["tin"]],
  [nothing, ["uei", "cage", "tin", "legal_name"]],
])("where %j is known, %j is asked for", (known, fields) => {
  expect(missingFields(known)).toEqual(fields);
});

describe("the checks chosen at first", () => {
  const made = (...checks: string[]) =>
    (["sam_registration", "tin_match"] as const).map((check) => ({
      check,
      newest: checks.includes(check) ? ({} as never) : undefined,
      answered: undefined,
    }));

  test.each([
    ["those made before", nothing, ["tin_match"], true, ["tin_match"]],
    ["all that are possible", all, [], true, ["sam_registration", "tin_match"]],
    ["no TIN match where it is not enabled", all, [], false, ["sam_registration"]],
    ["no TIN match without a name", { ...all, legalName: "" }, [], true, ["sam_registration"]],
    ["only a TIN match without a UEI and a CAGE", { ...all, uei: "", cage: "" }, [], true, ["tin_match"]],
    ["the registration if nothing is known", nothing, [], true, ["sam_registration"]],
  ])("are %s", (_name, known, before, mayMatchTins, checks) => {
    expect(suggestedChecks(known, made(...before), mayMatchTins)).toEqual(checks);
  });
});

describe("the form of one vendor", () => {
  test("needs nothing that is known", () => {
    const read = readVendorForm({ ...blank, checks: ["tin_match", "sam_registration"] }, all, "sandbox");
    expect(read).toEqual({ request: { checks: [SAM_REGISTRATION, TIN_MATCH], identifiers: {}, legalName: "" } });
  });

  test("takes what is not known", () => {
    const typed = {
      uei: " sandbx-actve1 ",
      cage: "",
      tin: "21-3456789",
      legal_name: " NESTL\u00c3\u0089 ",
      checks: ["tin_match"],
    };
    expect(readVendorForm(typed, nothing, "sandbox")).toEqual({
      request: { checks: [TIN_MATCH], identifiers: { uei: "SANDBXACTVE1", tin: "213456789" }, legalName: "NESTLÉ" },
    });
  });

  test.each([
    [nothing, ["sam_registration"], {}, ["uei"]],
    [nothing, ["sam_registration"], { cage: "1ABC2" }, []],
    [nothing, ["tin_match"], {}, ["tin", "legal_name"]],
    [nothing, ["tin_match"], { tin: "213456789" }, ["legal_name"]],
    [nothing, [], { uei: "SANDBXACTVE1" }, ["checks"]],
    [all, ["a_new_one"], {}, ["checks"]],
    [nothing, ["sam_registration"], { uei: "X" }, ["uei"]],
    [all, ["sam_registration"], { legal_name: "Drip 21-3456789" }, ["legal_name"]],
  ])("with %j known and %j chosen, %j typed has problems in %j", (known, checks, typed, fields) => {
    expect(Object.keys(readVendorForm({ ...blank, ...typed, checks }, known, "sandbox").problems ?? {})).toEqual(
      fields,
    );
  });

  test("refuses an identifier that can't be right, and a sandbox UEI among live vendors", () => {
    const typed = { ...blank, uei: "SANDBXACTVE1", tin: "12-345678", checks: ["sam_registration"] };
    expect(readVendorForm(typed, nothing, "live").problems).toEqual({
      uei: expect.stringMatching(/^The UEI must not begin with SANDBX/),
      tin: "The TIN must be 9 digits: a spreadsheet may have dropped leading zeros.",
    });
    expect(Object.keys(readVendorForm(typed, nothing, "sandbox").problems ?? {})).toEqual(["tin"]);
  });
});
