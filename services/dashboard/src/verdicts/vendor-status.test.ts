import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { type VendorCheckSchema, VendorSchema } from "@vvs/proto/entity/v1/vendors";
import { vendorStatus } from "./vendor-status.ts";

const NOW = new Date("2026-11-23T10:00:00Z");
const yesterday = timestampFromDate(new Date("2026-11-22T10:00:00Z"));
type Check = MessageInitShape<typeof VendorCheckSchema>;

/** A check whose newest result is its last answer. */
const answered = (
  status: CheckStatus,
  reason = "",
  { checkType = CheckType.SAM_REGISTRATION, checkedAt = yesterday } = {},
): Check => ({ checkType, status, reason, checkedAt, lastAnswered: { status, reason, checkedAt } });
/** A check without an answer since `before`. */
const unanswered = (before?: CheckStatus, reason = ""): Check => ({
  checkType: CheckType.SAM_REGISTRATION,
  status: CheckStatus.ERROR,
  reason: "missing_uei",
  checkedAt: yesterday,
  ...(before && { lastAnswered: { status: before, reason, checkedAt: yesterday } }),
});
const { PASS, FAIL } = CheckStatus;
const withEffect = (status: CheckStatus, exclusionEffect: string): Check => {
  const answer = { status, reason: status === FAIL ? "excluded" : "", checkedAt: yesterday, exclusionEffect };
  return { checkType: CheckType.SAM_REGISTRATION, ...answer, lastAnswered: answer };
};
const doubtful = (doubt: object): Check => {
  const answer = { status: PASS, checkedAt: yesterday, ...doubt };
  return { checkType: CheckType.SAM_REGISTRATION, ...answer, lastAnswered: answer };
};
const entity = { legalName: "Acme Inc", identifiers: { uei: "UE9QJD4KK1L6" } };
const withTin = { ...entity, identifiers: { tin: "****6780" } };
const matched = (
  tin: string,
  { name = "Acme Inc", status = PASS, aboutOther = undefined as boolean | undefined } = {},
): Check => {
  const reason = status === FAIL ? "mismatch" : "";
  const answer = { status, reason, checkedAt: yesterday, tin, name, aboutOther };
  return { checkType: CheckType.TIN_MATCH, ...answer, lastAnswered: answer };
};
const UNCHECKED = "unchecked Not checked yet";
const OTHER = "other Other TIN or name";
const longAgo = timestampFromDate(new Date("2026-10-01T10:00:00Z"));

const statusOf = (vendor: MessageInitShape<typeof VendorSchema>) =>
  vendorStatus(create(VendorSchema, { entity, ...vendor } as MessageInitShape<typeof VendorSchema>), [], NOW);
const ofTin = (...checks: Check[]) => ({ entity: withTin, checks });
const listed = { ...entity, sources: [{ name: "sam_gov_extract" }] };
const expirationDate = "2027-03-31";

test.each<[string, MessageInitShape<typeof VendorSchema>, string]>([
  ["never checked", {}, "unchecked Not checked yet"],
  ["passed", { checks: [answered(PASS)], expirationDate }, "pass Passed"],
  ["expired since it passed", { checks: [answered(PASS)], expirationDate: "2026-11-22" }, "stale Verify again"],
  ["passed long ago", { checks: [answered(PASS, "", { checkedAt: longAgo })], expirationDate }, "stale Verify again"],
  ["excluded", { checks: [answered(FAIL, "excluded")], excluded: true }, "fail Excluded"],
  ["one check failed", { checks: [answered(PASS), matched("", { status: FAIL })] }, "fail Failed"],
  ["no answer at all", { checks: [unanswered()] }, "error No answer"],
  ["passed, and no answer since", { checks: [unanswered(PASS)] }, "error No answer"],
  ["failed, and no answer since", { checks: [unanswered(FAIL, "not_found")] }, "fail Failed"],
  ["a check of a newer version", { checks: [answered(PASS, "", { checkType: 99 as CheckType })] }, UNCHECKED],
  ["a TIN match without SAM.gov", ofTin(matched("****6780")), "open Not yet"],
  ["both checks", ofTin(answered(PASS), matched("****6780")), "pass Passed"],
  ["a TIN that was never checked", ofTin(answered(PASS)), "open Not yet"],
  ["another TIN", ofTin(answered(PASS), matched("****2220")), OTHER],
  ["a failure of another TIN", ofTin(answered(PASS), matched("****2222", { status: FAIL, aboutOther: true })), OTHER],
  [
    "a spelling of its name, as the list says",
    ofTin(answered(PASS), matched("****6780", { name: "ACME INCORPORATED", aboutOther: false })),
    "pass Passed",
  ],
  [
    "another name, as the list says",
    ofTin(answered(PASS), matched("****6780", { name: "Other LLC", aboutOther: true })),
    OTHER,
  ],
  [
    "another name, of which a list of an earlier version says nothing",
    ofTin(answered(PASS), matched("****6780", { name: "Other LLC" })),
    OTHER,
  ],
  [
    "a TIN that another one replaced, which the list does not know yet",
    ofTin(answered(PASS), matched("****2220", { aboutOther: false })),
    OTHER,
  ],
  ["restricted products", { checks: [withEffect(PASS, "product")] }, "open Restricted"],
  ["an exclusion that bears its name", { checks: [doubtful({ sameName: "found" })] }, "open Review"],
  ["exclusions by name that were not looked up", { checks: [doubtful({ sameName: "unknown" })] }, "open Review"],
  ["another name in SAM.gov than the given one", { checks: [doubtful({ name: "OTHER LLC" })] }, "open Review"],
  [
    "another name in SAM.gov than the registry’s",
    { entity: listed, checks: [doubtful({ name: "OTHER LLC" })] },
    "pass Passed",
  ],
  ["a doubt, and a TIN that was never checked", ofTin(doubtful({ sameName: "found" })), "open Not yet"],
  ["an excluded facility", { checks: [withEffect(FAIL, "facility")], excluded: true }, "fail Excluded"],
])("%s", (_name, vendor, status) => {
  const { state, label } = statusOf(vendor);
  expect(`${state} ${label}`).toBe(status);
});

test.each<[string, MessageInitShape<typeof VendorSchema>, string[]]>([
  [
    "nothing of a check that a newer version made",
    { checks: [answered(PASS, "", { checkType: 99 as CheckType })] },
    [],
  ],
  [
    "the check that has no answer",
    { checks: [unanswered(PASS)] },
    [
      "SAM.gov registration: Neither a UEI nor a CAGE code of this vendor is known. Run the check again with a UEI or a CAGE code. The last answer, of 22 November 2026: Active in SAM.gov, and not excluded.",
    ],
  ],
  [
    "the check that a yes lacks",
    ofTin(matched("****6780")),
    ["SAM.gov registration: Not checked yet.", "The name “Acme Inc” and the TIN ****6780 match in the IRS’s records."],
  ],
  [
    "the TIN that was not checked",
    ofTin(answered(PASS)),
    ["Active in SAM.gov, and not excluded.", "TIN match: The TIN ****6780 was not checked."],
  ],
  [
    "another TIN with the same last four digits",
    ofTin(answered(PASS), matched("****6780", { aboutOther: true })),
    [
      "Active in SAM.gov, and not excluded.",
      "The name “Acme Inc” and the TIN ****6780 match in the IRS’s records. This vendor’s TIN is another one with the same last four digits, which was not checked.",
    ],
  ],
  [
    "what a person must look at",
    { checks: [doubtful({ sameName: "found" })], expirationDate },
    [
      "Active in SAM.gov until 31 March 2027.",
      "Look at the exclusions that bear this vendor’s name: they may be of somebody else.",
    ],
  ],
  [
    "the name in SAM.gov",
    { checks: [doubtful({ name: "OTHER LLC" })] },
    ["Active in SAM.gov.", "Look at the name: SAM.gov has this vendor as “OTHER LLC”."],
  ],
])("the details of a status name %s", (_name, vendor, details) => {
  expect(statusOf(vendor).details).toEqual(details);
});
