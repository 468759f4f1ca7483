import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { PaymentSchema, type Verification, VerificationSchema } from "@vvs/proto/verification/v1/verification";
import { certifiedDecision } from "./certified-decision.ts";

const { PASS, FAIL, ERROR } = CheckStatus;
const sameName = [{ name: "ACME", terminationDate: "indefinite" }];
const restricted = {
  exclusions: { exclusions: [{ effect: "product", activeDate: "2026-01-01", terminationDate: "indefinite" }] },
};
const onlyTin = create(VerificationSchema, {
  overallResult: PASS,
  createdAt: timestampFromDate(new Date("2026-11-21T12:00:00Z")),
  results: [{ checkType: CheckType.TIN_MATCH, status: PASS }],
});
const stored = (doubts: string[], status = PASS) => ({
  ...verificationOf(status),
  payment: create(PaymentSchema, { doubts }),
});
const none = { name: "", registeredName: "" };

/** Returns a verification whose registration has this status and details, with a TIN match if its status is given. */
function verificationOf(status: CheckStatus, details: object = {}, match?: CheckStatus): Verification {
  const matched = match === undefined ? [] : [{ checkType: CheckType.TIN_MATCH, status: match }];
  const statuses = [status, match ?? PASS];
  return create(VerificationSchema, {
    overallResult: statuses.includes(FAIL) ? FAIL : statuses.includes(ERROR) ? ERROR : PASS,
    createdAt: timestampFromDate(new Date("2026-11-21T12:00:00Z")),
    results: [{ checkType: CheckType.SAM_REGISTRATION, status, details }, ...matched],
  });
}

test.each<[Verification, typeof none, string]>([
  [verificationOf(PASS), none, "Pay: every check passed."],
  [verificationOf(PASS), { name: "Acme", registeredName: "ACME" }, "Pay: every check passed."],
  [verificationOf(FAIL), none, "Hold: a check failed."],
  [verificationOf(ERROR), none, "Review: a check got no answer."],
  [verificationOf(PASS, {}, PASS), { name: "Acme", registeredName: "" }, "Pay: every check passed."],
  [
    verificationOf(PASS, {}, ERROR),
    { name: "Acme", registeredName: "" },
    "Review: a check got no answer, and no source confirms the name.",
  ],
  [
    verificationOf(PASS, {}, PASS),
    { name: "Acme", registeredName: "LORWIN" },
    "Review: the name differs from the registered one.",
  ],
  [
    verificationOf(PASS, restricted),
    none,
    "Review: an exclusion of the vendor or of some of its products is in force.",
  ],
  [verificationOf(PASS, { sameName }), none, "Review: an exclusion without a UEI and a CAGE bears the vendor’s name."],
  [
    verificationOf(PASS, { sameNameUnknown: true }),
    none,
    "Review: whether an exclusion without a UEI and a CAGE bears the vendor’s name could not be looked up.",
  ],
  [verificationOf(FAIL, { sameName }), none, "Hold: a check failed."],
  [onlyTin, none, "Review: exclusions were not looked up."],
  [stored([]), { name: "Acme", registeredName: "LORWIN" }, "Pay: every check passed."],
  [stored(["other_name"]), none, "Review: the name differs from the registered one."],
  [stored(["no_answer", "new_doubt"], ERROR), none, "Review: a check got no answer, and new_doubt."],
  [stored(["other_name"], FAIL), none, "Hold: a check failed."],
])("a verification says in words whether to pay (%#)", (verification, names, expected) => {
  const isSame = (asked: string, own: string) => asked.toLowerCase() === own.toLowerCase();
  expect(certifiedDecision(verification, names, isSame)).toBe(expected);
});
