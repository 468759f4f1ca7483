import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import type { Check } from "@vvs/checks";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { ResultSchema } from "@vvs/proto/verification/v1/verification";
import { dataDate, dataDay, type Verdict, verdictOf } from "./verdict.ts";

const { PASS, FAIL, ERROR } = CheckStatus;
const now = new Date("2026-11-23T12:00:00Z");
const yesterday = new Date("2026-11-22T12:00:00Z");
const found = (result: Exclude<MessageInitShape<typeof ResultSchema>, { $typeName: string }>, at = yesterday) => ({
  result: create(ResultSchema, result),
  at,
});
const details = { registrationStatus: "active", expirationDate: "2027-03-31", exclusions: { exclusions: [] } };
const exclusion = {
  program: "Reciprocal",
  type: "Ineligible (Proceedings Completed)",
  agency: "GSA",
  activeDate: "2024-05-03",
  terminationDate: "indefinite",
};
const asked = { tin: "****2220", name: "ACME INC" };
const ofSam = { checkType: CheckType.SAM_REGISTRATION };
const withExclusions = (...exclusions: object[]) => ({ ...details, exclusions: { exclusions } });
type Found = Parameters<typeof found>[0];

test.each<[Check, Found | undefined, Verdict["state"], string]>([
  ["sam_registration", undefined, "unchecked", "Not checked yet."],
  ["sam_registration", { ...ofSam, status: FAIL, reason: "a_new_one" }, "fail", "Failed: a_new_one."],
  ["sam_registration", { ...ofSam, status: ERROR }, "error", "There was no answer. Verify again."],
  [
    "sam_registration",
    { ...ofSam, status: ERROR, reason: "missing_uei" },
    "error",
    "Neither a UEI nor a CAGE code of this vendor is known. Run the check again with a UEI or a CAGE code.",
  ],
])("a check of %s, %j, is %s: %s", (check, result, state, text) => {
  expect(verdictOf(check, result && found(result), now)).toEqual({ state, text });
});

test.each<[object | undefined, string]>([
  [details, "Active in SAM.gov until 31 March 2027. No exclusions."],
  [{ ...details, exclusions: undefined }, "Active in SAM.gov until 31 March 2027."],
  [undefined, "Active in SAM.gov, and not excluded."],
  [{ ...details, expirationDate: "2026-11-23" }, "Active in SAM.gov until 23 November 2026. No exclusions."],
  [
    withExclusions({ ...exclusion, effect: "product", agency: "", type: "" }),
    "Active in SAM.gov until 31 March 2027. Some of its products are restricted since 3 May 2024, without an end date.",
  ],
  [
    withExclusions({ ...exclusion, effect: "bar", activeDate: "2026-12-01", type: "" }),
    "Active in SAM.gov until 31 March 2027. Will be excluded from federal awards by GSA from 1 December 2026 on, without an end date.",
  ],
])("a registration that passed with %j says: %s", (of, text) => {
  const result = { ...ofSam, status: PASS, details: of };
  expect(verdictOf("sam_registration", found(result), now)).toEqual({ state: "pass", text });
});

test.each<[object, Date, string]>([
  [
    { ...details, expirationDate: "2026-11-22" },
    yesterday,
    "The registration in SAM.gov ended on 22 November 2026, after this check.",
  ],
  [
    details,
    new Date("2026-10-23T00:00:00Z"),
    "Active in SAM.gov until 31 March 2027. No exclusions. This was more than 30 days ago.",
  ],
  [
    withExclusions({ ...exclusion, effect: "bar", activeDate: "2026-11-23" }),
    yesterday,
    "An exclusion began on 23 November 2026, after this check.",
  ],
])("a registration that passed with %j at %s must be verified again: %s", (of, at, text) => {
  const result = { ...ofSam, status: PASS, details: of };
  expect(verdictOf("sam_registration", found(result, at), now)).toEqual({ state: "stale", text });
});

test.each<[string, object | undefined, string]>([
  [
    "excluded",
    withExclusions(exclusion),
    "Excluded from federal awards by GSA since 3 May 2024, without an end date: Ineligible (Proceedings Completed).",
  ],
  [
    "excluded",
    withExclusions({ ...exclusion, agency: "", type: "", terminationDate: "2027-01-01" }, exclusion, exclusion),
    "Excluded from federal awards since 3 May 2024, until 1 January 2027. There are 2 more exclusions.",
  ],
  ["excluded", undefined, "Excluded from federal awards."],
  [
    "excluded",
    withExclusions({ ...exclusion, effect: "facility", terminationDate: "" }),
    "One of its facilities is excluded from federal awards by GSA since 3 May 2024: Ineligible (Proceedings Completed).",
  ],
  [
    "excluded",
    withExclusions({ ...exclusion, effect: "product", type: "" }),
    "Excluded from federal awards. Some of its products are restricted by GSA since 3 May 2024, without an end date.",
  ],
  ["expired", { expirationDate: "2021-03-31" }, "The registration in SAM.gov expired on 31 March 2021."],
  ["expired", undefined, "The registration in SAM.gov expired."],
  ["not_found", undefined, "SAM.gov has no record of this vendor."],
  ["not_registered", undefined, "The vendor has a UEI, but never completed a registration in SAM.gov."],
  ["inactive", undefined, "The registration in SAM.gov is not active."],
])("a registration that failed as %s, with %j, says: %s", (reason, of, text) => {
  const result = { ...ofSam, status: FAIL, reason, details: of };
  expect(verdictOf("sam_registration", found(result), now)).toEqual({ state: "fail", text });
});

test.each<[string, object | undefined, string]>([
  ["", undefined, "The name and the TIN match in the IRS’s records."],
  ["mismatch", undefined, "The name and the TIN do not match in the IRS’s records."],
  ["not_issued", undefined, "The IRS has not issued this TIN."],
  ["", asked, "The name “ACME INC” and the TIN ****2220 match in the IRS’s records."],
  ["mismatch", asked, "The name “ACME INC” and the TIN ****2220 do not match in the IRS’s records."],
  ["not_issued", asked, "The IRS has not issued the TIN ****2220."],
])("a TIN match with the reason %j and %j says: %s", (reason, of, text) => {
  const state = reason === "" ? "pass" : "fail";
  const result = { status: reason === "" ? PASS : FAIL, reason, details: of };
  expect(verdictOf("tin_match", found(result), now)).toEqual({ state, text });
});

test("a check that only a newer version knows has its name", () => {
  expect(verdictOf(undefined, found({ checkType: 9 as CheckType, status: PASS }), now).text).toBe("Passed: check 9.");
});

test("a registration that passed is out of date once its last day is over in Washington", () => {
  const passed = found({ ...ofSam, status: PASS, details: { expirationDate: "2026-11-24" } }, new Date("2026-11-24"));
  const stateAt = (moment: string) => verdictOf("sam_registration", passed, new Date(moment)).state;
  expect([stateAt("2026-11-25T04:59:59Z"), stateAt("2026-11-25T05:00:00Z")]).toEqual(["pass", "stale"]);
});

test("a file's age is counted in Washington's days, that of a moment in UTC's", () => {
  const at = (date: string) => dataDay(new Date(date), new Date("2026-11-25T01:30:00Z"));
  expect(at("2026-11-24T00:00:00Z")).toBe("today");
  expect(at("2026-11-23T00:00:00Z")).toBe("yesterday");
  expect(at("2026-11-24T23:00:00Z")).toBe("yesterday");
  expect(at("2026-11-25T01:00:00Z")).toBe("today");
});

test.each([
  ["2026-11-23T00:00:00Z", "today"],
  ["2026-11-24T00:00:00Z", "today"],
  ["2026-11-22T23:59:59Z", "yesterday"],
  ["2026-11-01T00:00:00Z", "1 November 2026"],
])("data dated %s is shown %s", (date, text) => {
  expect(dataDay(new Date(date), now)).toBe(text);
});

test("the data's date is that of the details, or else counted from the result; an error has none", () => {
  const dataAsOf = timestampFromDate(new Date("2026-11-21T00:00:00Z"));
  expect(dataDate(found({ status: PASS, details: { dataAsOf } }))).toEqual(new Date("2026-11-21T00:00:00Z"));
  expect(dataDate(found({ status: PASS, dataFreshnessSeconds: 3_600n }))).toEqual(new Date("2026-11-22T11:00:00Z"));
  expect(dataDate(found({ status: ERROR }))).toBeUndefined();
});
