import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Check, checkOf, statusOf } from "@vvs/checks";
import { type Decision, type DecisionFacts, decide, decisionWith, doubtText } from "@vvs/checks/decision";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import type { Verification } from "@vvs/proto/verification/v1/verification";
import { registryDay } from "@vvs/registration";
import { sameNameIn } from "./same-name-rows.ts";
import type { SameNames } from "./same-names.ts";
import { exclusionEffect } from "./verdict.ts";

export const decisionLabels: Readonly<Record<Decision, string>> = { pay: "Pay", hold: "Hold", review: "Review" };

interface AskedNames {
  readonly name: string;
  readonly registeredName: string;
}

/** Returns in words what a verification says of a payment on its day, as it was decided when it was stored. */
export function certifiedDecision(verification: Certified, names: AskedNames, isSame: SameNames): string {
  const result = statusOf(verification.overallResult) ?? "error";
  const doubts = verification.payment?.doubts ?? doubtsIn(verification, names, isSame);
  const decision = decisionWith(result, doubts);
  const why = decision === "hold" ? ["a check failed"] : doubts.map(doubtText);
  return `${decisionLabels[decision]}: ${why.join(", and ") || "every check passed"}.`;
}

type Certified = Pick<Verification, "results" | "overallResult" | "createdAt" | "payment">;

/** Returns the doubts of a verification from before they were stored with it, by the names that it asked about and was answered with. */
function doubtsIn({ results, overallResult, createdAt }: Certified, names: AskedNames, isSame: SameNames): string[] {
  const at = timestampDate(createdAt!);
  const { name, registeredName } = names;
  const resultsOf = (check: Check) => results.filter(({ checkType }) => checkOf(checkType) === check);
  const nameFact = (): DecisionFacts["name"] => {
    if (name === "") return undefined;
    if (registeredName !== "") return isSame(name, registeredName) ? "agrees" : "differs";
    return resultsOf("tin_match").some(({ status }) => status === CheckStatus.PASS) ? "agrees" : "unknown";
  };
  const isLookedAt = resultsOf("sam_registration").length > 0;
  return decide({
    result: statusOf(overallResult) ?? "error",
    name: nameFact(),
    isExcluded: isLookedAt ? results.some((result) => exclusionEffect({ result, at }, at)) : undefined,
    sameName: sameNameIn(results, registryDay(at)),
  }).doubts;
}
