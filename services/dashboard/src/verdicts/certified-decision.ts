import { timestampDate } from "@bufbuild/protobuf/wkt";
import { checkOf, statusOf } from "@vvs/checks";
import { type Decision, type DecisionFacts, type Doubt, decide } from "@vvs/checks/decision";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import type { Verification } from "@vvs/proto/verification/v1/verification";
import { registryDay } from "@vvs/registration";
import { sameNameIn } from "./same-name-rows.ts";
import type { SameNames } from "./same-names.ts";
import { exclusionEffect } from "./verdict.ts";

export const decisionLabels: Readonly<Record<Decision, string>> = { pay: "Pay", hold: "Hold", review: "Review" };

const reasons: Readonly<Record<Doubt, string>> = {
  no_answer: "a check got no answer",
  other_name: "the name that was asked about is not the registered one",
  name_not_compared: "no source confirms the name that was asked about",
  exclusion: "some of the vendor’s products are restricted",
  same_name: "an exclusion without a UEI and a CAGE bears the vendor’s name",
  same_name_unknown: "whether an exclusion without a UEI and a CAGE bears the vendor’s name could not be looked up",
};

/** Returns in words what a verification says of a payment on its day, by the names that it asked about and was answered with. */
export function certifiedDecision(
  { results, overallResult, createdAt }: Pick<Verification, "results" | "overallResult" | "createdAt">,
  { name, registeredName }: { readonly name: string; readonly registeredName: string },
  isSame: SameNames,
): string {
  const at = timestampDate(createdAt!);
  const nameFact = (): DecisionFacts["name"] => {
    if (name === "") return undefined;
    if (registeredName !== "") return isSame(name, registeredName) ? "agrees" : "differs";
    const isMatched = results.some(
      ({ checkType, status }) => checkOf(checkType) === "tin_match" && status === CheckStatus.PASS,
    );
    return isMatched ? "agrees" : "unknown";
  };
  const { decision, doubts } = decide({
    result: statusOf(overallResult) ?? "error",
    name: nameFact(),
    isExcluded: results.some((result) => exclusionEffect({ result, at }, at)),
    sameName: sameNameIn(results, registryDay(at)),
  });
  const why = decision === "hold" ? ["a check failed"] : doubts.map((doubt) => reasons[doubt]);
  return `${decisionLabels[decision]}: ${why.join(", and ") || "every check passed"}.`;
}
