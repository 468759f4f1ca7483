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
const longAgo = timestampFromDate(new Date("2026-10-01T10:00:00Z"));

test.each<[string, MessageInitShape<typeof VendorSchema>, string, string]>([
  ["never checked", {}, "unchecked Not checked yet", ""],
  [
    "passed",
    { checks: [answered(PASS)], expirationDate: "2027-03-31" },
    "pass Passed",
    "Active in SAM.gov until 31 March 2027.",
  ],
  [
    "expired since it passed",
    { checks: [answered(PASS)], expirationDate: "2026-11-22" },
    "stale Verify again",
    "The registration in SAM.gov ended on 22 November 2026, after this check.",
  ],
  [
    "passed long ago",
    { checks: [answered(PASS, "", { checkedAt: longAgo })], expirationDate: "2027-03-31" },
    "stale Verify again",
    "Active in SAM.gov until 31 March 2027. This was more than 30 days ago.",
  ],
  [
    "excluded",
    { checks: [answered(FAIL, "excluded")], excluded: true, expirationDate: "2027-03-31" },
    "fail Excluded",
    "Excluded from federal awards.",
  ],
  [
    "one check failed",
    {
      checks: [answered(PASS), answered(FAIL, "mismatch", { checkType: CheckType.TIN_MATCH })],
      expirationDate: "2027-03-31",
    },
    "fail Failed",
    "Active in SAM.gov until 31 March 2027. The name and the TIN do not match in the IRS’s records.",
  ],
  [
    "no answer at all",
    { checks: [unanswered()] },
    "error No answer",
    "SAM.gov registration: Neither a UEI nor a CAGE code of this vendor is known. Run the check again with a UEI or a CAGE code.",
  ],
  [
    "passed, and no answer since",
    { checks: [unanswered(PASS)] },
    "error No answer",
    "SAM.gov registration: Neither a UEI nor a CAGE code of this vendor is known. Run the check again with a UEI or a CAGE code. The last answer, of 22 November 2026: Active in SAM.gov, and not excluded.",
  ],
  [
    "failed, and no answer since",
    { checks: [unanswered(FAIL, "not_found")] },
    "fail Failed",
    "SAM.gov has no record of this vendor. The newest check got no answer.",
  ],
  [
    "a check of a newer version",
    { checks: [answered(PASS, "", { checkType: 99 as CheckType })] },
    "unchecked Not checked yet",
    "",
  ],
  [
    "a TIN match without SAM.gov",
    { entity: withTin, checks: [matched("****6780")] },
    "open Not yet",
    "SAM.gov registration: Not checked yet. The name “Acme Inc” and the TIN ****6780 match in the IRS’s records.",
  ],
  [
    "both checks",
    { entity: withTin, checks: [answered(PASS), matched("****6780")] },
    "pass Passed",
    "Active in SAM.gov, and not excluded. The name “Acme Inc” and the TIN ****6780 match in the IRS’s records.",
  ],
  [
    "a TIN that was never checked",
    { entity: withTin, checks: [answered(PASS)] },
    "open Not yet",
    "Active in SAM.gov, and not excluded. TIN match: The TIN ****6780 was not checked.",
  ],
  [
    "another TIN",
    { entity: withTin, checks: [answered(PASS), matched("****2220")] },
    "other Other TIN or name",
    "Active in SAM.gov, and not excluded. The name “Acme Inc” and the TIN ****2220 match in the IRS’s records. This vendor’s TIN is ****6780, which was not checked.",
  ],
  [
    "a failure of another TIN",
    { entity: withTin, checks: [answered(PASS), matched("****2222", { status: FAIL, aboutOther: true })] },
    "other Other TIN or name",
    "Active in SAM.gov, and not excluded. The name “Acme Inc” and the TIN ****2222 do not match in the IRS’s records. This vendor’s TIN is ****6780, which was not checked.",
  ],
  [
    "a spelling of its name, as the list says",
    {
      entity: withTin,
      checks: [answered(PASS), matched("****6780", { name: "ACME INCORPORATED", aboutOther: false })],
    },
    "pass Passed",
    "Active in SAM.gov, and not excluded. The name “ACME INCORPORATED” and the TIN ****6780 match in the IRS’s records.",
  ],
  [
    "another name, as the list says",
    { entity: withTin, checks: [answered(PASS), matched("****6780", { name: "Other LLC", aboutOther: true })] },
    "other Other TIN or name",
    "Active in SAM.gov, and not excluded. The name “Other LLC” and the TIN ****6780 match in the IRS’s records. This vendor’s name is “Acme Inc”. Check that both names are of the same company.",
  ],
  [
    "another name, of which a list of an earlier version says nothing",
    { entity: withTin, checks: [answered(PASS), matched("****6780", { name: "Other LLC" })] },
    "other Other TIN or name",
    "Active in SAM.gov, and not excluded. The name “Other LLC” and the TIN ****6780 match in the IRS’s records. This vendor’s name is “Acme Inc”. Check that both names are of the same company.",
  ],
  [
    "restricted products",
    { checks: [withEffect(PASS, "product")], expirationDate: "2027-03-31" },
    "open Restricted",
    "Active in SAM.gov until 31 March 2027. Some of its products are restricted. Look at what you buy: some of its products are restricted.",
  ],
  [
    "an exclusion that bears its name",
    { checks: [doubtful({ sameName: "found" })], expirationDate: "2027-03-31" },
    "open Review",
    "Active in SAM.gov until 31 March 2027. Look at the exclusions that bear this vendor’s name: they may be of somebody else.",
  ],
  [
    "exclusions by name that were not looked up",
    { checks: [doubtful({ sameName: "unknown" })] },
    "open Review",
    "Active in SAM.gov. Verify again: exclusions by name could not be looked up.",
  ],
  [
    "another name in SAM.gov’s answer than the organization gave",
    { checks: [doubtful({ name: "OTHER LLC" })] },
    "open Review",
    "Active in SAM.gov. Look at the name: SAM.gov has this vendor as “OTHER LLC”.",
  ],
  [
    "another name in SAM.gov’s answer than the registry’s",
    { entity: { ...entity, sources: [{ name: "sam_gov_extract" }] }, checks: [doubtful({ name: "OTHER LLC" })] },
    "pass Passed",
    "Active in SAM.gov.",
  ],
  [
    "a doubt, and a TIN that was never checked",
    { entity: withTin, checks: [doubtful({ sameName: "found" })] },
    "open Not yet",
    "Active in SAM.gov. TIN match: The TIN ****6780 was not checked.",
  ],
  [
    "an excluded facility",
    { checks: [withEffect(FAIL, "facility")], excluded: true },
    "fail Excluded",
    "One of its facilities is excluded from federal awards.",
  ],
])("%s", (_name, vendor, status, details) => {
  const found = vendorStatus(
    create(VendorSchema, { entity, ...vendor } as MessageInitShape<typeof VendorSchema>),
    [],
    NOW,
  );
  expect(`${found.state} ${found.label}`).toBe(status);
  expect(found.details.join(" ")).toBe(details);
});
