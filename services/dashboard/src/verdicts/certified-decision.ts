import { statusOf } from "@vvs/checks";
import { type Decision, decisionWith, doubtText } from "@vvs/checks/decision";
import type { Verification } from "@vvs/proto/verification/v1/verification";

export const decisionLabels: Readonly<Record<Decision, string>> = { pay: "Pay", hold: "Hold", review: "Review" };

/** Returns in words what a verification says of a payment, as it was decided when it was stored; undefined where it was not. */
export function certifiedDecision({
  overallResult,
  payment,
}: Pick<Verification, "overallResult" | "payment">): string | undefined {
  if (!payment) return undefined;
  const decision = decisionWith(statusOf(overallResult) ?? "error", payment.doubts);
  const why = decision === "hold" ? ["a check failed"] : payment.doubts.map(doubtText);
  return `${decisionLabels[decision]}: ${why.join(", and ") || "every check passed"}.`;
}
