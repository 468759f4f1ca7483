import { create } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { checkOf } from "@vvs/checks";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import type { Vendor, VendorCheck } from "@vvs/proto/entity/v1/vendors";
import { ResultSchema } from "@vvs/proto/verification/v1/verification";
import { checkTitle } from "../ui/checks.ts";
import { type Verdict, verdictOf } from "../ui/verdict.ts";

/** What a vendor's entry in the list says in words. */
export interface VendorStatus {
  readonly state: Verdict["state"];
  readonly label: string;
  /** For each check, what its last answer says today, and whether the newest attempt got no answer. */
  readonly details: readonly string[];
}

const labels: Readonly<Record<Verdict["state"], string>> = {
  fail: "Failed",
  error: "No answer",
  stale: "Verify again",
  pass: "Passed",
  unchecked: "Not checked yet",
};
/** The first of these that a check has is that of the vendor. */
const worstFirst = ["fail", "error", "stale", "pass"] as const;

/** Returns the status of a vendor today. A newer error does not hide an earlier answer. */
export function vendorStatus(vendor: Pick<Vendor, "checks" | "excluded" | "expirationDate">, now: Date): VendorStatus {
  const verdicts = vendor.checks.map((check) => verdictOn(check, vendor.expirationDate, now));
  const state = worstFirst.find((each) => verdicts.some((verdict) => verdict.state === each)) ?? "unchecked";
  return {
    state,
    label: state === "fail" && vendor.excluded ? "Excluded" : labels[state],
    details: verdicts.map(({ text }) => text),
  };
}

function verdictOn(newest: VendorCheck, expirationDate: string, now: Date): Verdict {
  const { checkType, status, reason, checkedAt, lastAnswered } = newest;
  const check = checkOf(checkType);
  const of = (answer: Pick<VendorCheck, "status" | "reason" | "checkedAt">) => {
    const details = check === "sam_registration" && expirationDate ? { expirationDate } : undefined;
    const result = create(ResultSchema, { checkType, status: answer.status, reason: answer.reason, details });
    return verdictOf(check, { result, at: timestampDate(answer.checkedAt!) }, now);
  };
  const isUnanswered = status !== CheckStatus.PASS && status !== CheckStatus.FAIL;
  const title = checkTitle(checkType);
  if (!lastAnswered) {
    const { state, text } = of({ status, reason, checkedAt });
    return { state, text: `${title}: ${text}` };
  }
  const { state, text } = of(lastAnswered);
  return { state, text: isUnanswered ? `${text} The newest check (${title}) got no answer.` : text };
}
